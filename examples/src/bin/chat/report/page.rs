//! The page around the picture. It holds all it needs, and its policy lets nothing else in.

use std::{
    collections::HashSet,
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use humantime::format_duration;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{
    entries::{Call, Kind, Shown},
    figures::Figures,
    layout::{NARROW, WIDE},
    model::Report,
    picture,
    text::{Room, number, one_line, visible},
};
use crate::text::said;

const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub(super) fn render(report: &Report) -> String {
    let style = format!("{}{}", picture::STYLE, include_str!("page.css"));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(SCRIPT)
    );
    let pictures = html! { (picture::inline(report, &WIDE)) (picture::inline(report, &NARROW)) };
    let mut room = Room::new(report, pictures.0.len());
    let title = title(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="referrer" content="no-referrer";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#conversation" { "To the conversation" }
                header {
                    h1 { bdi { (title) } }
                    p.m { (span(report)) " · session " code { bdi { (visible(&report.id)) } } }
                    @for damage in &report.damage { p.m { "Damage: " bdi { (visible(damage)) } } }
                }
                main {
                    h2 #picture { "Tasks over the requests" }
                    div.scroll tabindex="0" role="region" aria-label="The picture" { (pictures) }
                    div.at hidden {
                        label for="at" { "Request" }
                        input #at type="range" min="1" max=(report.requests.len()) value="1";
                        a #there href="#conversation" {}
                    }
                    (figures(&report.figures))
                    h2 #conversation { "The conversation" }
                    (conversation(report, &mut room))
                }
                footer { p.m { "Written by " code { "chat report" } ". Nothing on this page was loaded from elsewhere." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The first prompt, by which a person knows the session.
fn title(report: &Report) -> String {
    let prompt = report.entries.iter().find(|entry| entry.kind == Kind::User && !entry.text.is_empty());
    prompt.map_or_else(|| "A session without a prompt".to_owned(), |prompt| one_line(&prompt.text, 90))
}

/// When it was, and how much.
fn span(report: &Report) -> Markup {
    let [from, to] = report.time;
    let took = Duration::from_millis(to.saturating_sub(from));
    let (turns, requests) = (report.turns.len(), report.requests.len());
    html! {
        (date(from))
        @if took >= Duration::from_secs(1) { " · " (format_duration(Duration::from_secs(took.as_secs()))) }
        " · " (number(turns)) " turn" (plural(turns)) " · " (number(requests)) " request" (plural(requests))
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

fn date(ms: u64) -> String {
    // beyond the year 9999 there is no such date
    let latest = Duration::from_secs(253_402_300_799);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(ms).min(latest))
}

fn figures(figures: &Figures) -> Markup {
    let median =
        figures.median_doubled.map(|twice| if twice % 2 == 0 { number(twice / 2) } else { format!("{}.5", twice / 2) });
    let share = (figures.idle * 100 + figures.requests / 2).checked_div(figures.requests);
    let cost = &figures.cost;
    let tokens = figures.prompt_tokens.unwrap_or(0).saturating_add(figures.completion_tokens.unwrap_or(0));
    let card =
        |name: &str, value: String, more: String| html! { div { dt { (name) } dd { b { (value) } small { (more) } } } };
    let none = || "–".to_owned();
    html! {
        dl {
            (card("Tasks done", format!("{} of {}", number(figures.done), number(figures.tasks)), match figures.deleted {
                0 => "none deleted".to_owned(),
                deleted => format!("{} more deleted", number(deleted)),
            }))
            (card("From reminder to update", median.map_or_else(none, |median| format!("{median} req.")),
                format!("the median, that request included; {} of {} reminder{} answered", number(figures.answered), number(figures.reminders), plural(figures.reminders))))
            (card("Idle requests", share.map_or_else(none, |share| format!("{share} %")),
                format!("{} of {} request{} changed no task while one was open", number(figures.idle), number(figures.requests), plural(figures.requests))))
            (card("Tokens in all", if figures.prompt_tokens.is_none() { none() } else { number(tokens) },
                if figures.prompt_tokens.is_none() { "the server told no counts".to_owned() } else {
                    format!("{} sent, {} answered, as the server counted", number(figures.prompt_tokens.unwrap_or(0)), number(figures.completion_tokens.unwrap_or(0)))
                }))
            (card("For tasks and reminders", format!("≈ {}", number(cost.input_tokens().saturating_add(cost.output_tokens))),
                format!("tokens, estimated over all requests: definitions {}, calls and results {}, reminders {}; {} request{} for tasks alone",
                    number(cost.definition_tokens), number(cost.call_tokens.saturating_add(cost.output_tokens)),
                    number(cost.reminder_tokens), number(cost.requests_for_tasks), plural(cost.requests_for_tasks))))
        }
    }
}

fn conversation(report: &Report, room: &mut Room) -> Markup {
    let answers = report.reminders.iter().filter_map(|reminder| report.requests.get(reminder.answered? - 1));
    let answers: HashSet<u64> = answers.map(|request| request.seq).collect();
    let count = |wanted: &dyn Fn(&Shown) -> bool| number(report.entries.iter().filter(|entry| wanted(entry)).count());
    let filters = [
        ("all", "All", number(report.entries.len())),
        ("prompts", "Prompts", count(&|entry| entry.kind == Kind::User)),
        ("reminders", "Reminders", count(&|entry| entry.kind == Kind::Reminder)),
        ("tasks", "Task calls", count(&Shown::calls_task_tools)),
        ("errors", "Errors", count(&Shown::is_error)),
    ];
    html! {
        fieldset {
            legend { "Show" }
            @for (id, name, count) in &filters {
                label { input type="radio" name="filter" id={ "f-" (id) } checked[*id == "all"]; (name) " " span { (count) } }
            }
            div.find hidden {
                input #find type="search" placeholder="Find in the conversation" aria-label="Find in the conversation" autocomplete="off";
                output for="find" {}
            }
            a.up href="#picture" { "↑ Picture" }
        }
        @if let Some(instructions) = &report.instructions {
            article { p.m { b { "instructions" } } (room.text(instructions)) }
        }
        p.m.none { "Nothing of this kind." }
        @for entry in &report.entries { (article(entry, answers.contains(&entry.seq), room)) }
    }
}

fn article(entry: &Shown, answers_reminder: bool, room: &mut Room) -> Markup {
    let mut class = match entry.kind {
        Kind::User => "u",
        Kind::Assistant => "a",
        Kind::Reminder => "n r",
        _ => "s",
    }
    .to_owned();
    let marks =
        [(entry.calls_task_tools(), " k"), (answers_reminder, " r"), (entry.is_error(), " e"), (entry.void, " void")];
    marks.iter().filter(|(marked, _)| *marked).for_each(|(_, mark)| class.push_str(mark));
    html! {
        article id=[(entry.seq > 0).then(|| format!("e{}", entry.seq))] class=(class) {
            p.m {
                b { (entry.kind.name()) }
                @if let Some(request) = entry.request { " · request " (number(request)) }
                @else if entry.kind == Kind::User { " · turn " (entry.turn) }
                @if let Some(usage) = &entry.usage {
                    @if let Some(tokens) = usage.prompt_tokens { " · " (number(tokens)) " tokens sent" }
                    @if let Some(tokens) = usage.completion_tokens { ", " (number(tokens)) " answered" }
                }
                @if answers_reminder { " · answers a reminder" }
                @if entry.void { " · rewound, does not count" }
            }
            @if entry.text.is_empty() {}
            @else if entry.kind == Kind::Assistant { (room.answer(&entry.text)) }
            @else { (room.text(&entry.text)) }
            @for call in &entry.calls { (draw_call(call, room)) }
        }
    }
}

fn draw_call(call: &Call, room: &mut Room) -> Markup {
    html! {
        details {
            summary {
                code { (one_line(&call.name, 64)) } " "
                bdi { (said(&call.arguments)) }
                @if call.failed() { " " span.bad { @if call.result.is_some() { "failed" } @else { "no result" } } }
            }
            (room.whole(&call.arguments, true))
            @match &call.result {
                Some(result) => { (room.whole(result, false)) }
                None => { p.m { "No result was recorded: it was interrupted, and may or may not have run." } }
            }
        }
    }
}

fn plural(count: impl TryInto<u64>) -> &'static str {
    if count.try_into().is_ok_and(|count| count == 1) { "" } else { "s" }
}
