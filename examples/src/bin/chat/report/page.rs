//! The page around the picture. It holds all it needs, and its policy lets nothing else in.

use std::{
    collections::HashSet,
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::{
    entries::{Call, Kind, Shown},
    figures::Figures,
    model::Report,
    picture,
    text::{Room, number, one_line, visible},
};

const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub(super) fn render(report: &Report) -> String {
    let style = format!("{}{}", picture::STYLE, include_str!("page.css"));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Session " (visible(&report.id)) }
                style { (PreEscaped(&style)) }
            }
            body {
                header {
                    h1 { "A session, looked at" }
                    p.m { "Session " code { bdi { (visible(&report.id)) } } ", from " (date(report.time[0])) " to " (date(report.time[1])) }
                    @for damage in &report.damage { p.m { "Damage: " bdi { (visible(damage)) } } }
                }
                main {
                    h2 { "Tasks over the requests" }
                    div.scroll tabindex="0" role="region" aria-label="The picture; it may scroll sideways" { (picture::inline(report)) }
                    (figures(&report.figures))
                    h2 { "The conversation" }
                    (conversation(report))
                }
                footer { p.m { "Written by " code { "chat report" } ". Nothing on this page was loaded from elsewhere." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
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
    let share = (figures.idle * 100).checked_div(figures.requests);
    let tokens = figures.prompt_tokens.unwrap_or(0).saturating_add(figures.completion_tokens.unwrap_or(0));
    let card =
        |name: &str, value: String, more: String| html! { div { dt { (name) } dd { b { (value) } small { (more) } } } };
    html! {
        dl {
            (card("Tasks done", format!("{} of {}", number(figures.done), number(figures.tasks)), match figures.deleted {
                0 => "none deleted".to_owned(),
                deleted => format!("{} more deleted", number(deleted)),
            }))
            (card("From reminder to update", median.map_or("–".to_owned(), |median| format!("{median} req.")),
                format!("the median, that request included; {} of {} reminders answered", number(figures.answered), number(figures.reminders))))
            (card("Spent on tasks and reminders", format!("≈ {}", number(figures.overhead)),
                "tokens, estimated: task calls, their results, reminders, each counted once".to_owned()))
            (card("Idle requests", share.map_or("–".to_owned(), |share| format!("{share} %")),
                format!("{} of {} requests changed no task while one was open", number(figures.idle), number(figures.requests))))
            (card("Tokens in all", if figures.prompt_tokens.is_none() { "–".to_owned() } else { number(tokens) },
                if figures.prompt_tokens.is_none() { "the server told no counts".to_owned() } else {
                    format!("{} sent, {} answered, as the server counted", number(figures.prompt_tokens.unwrap_or(0)), number(figures.completion_tokens.unwrap_or(0)))
                }))
        }
    }
}

fn conversation(report: &Report) -> Markup {
    let texts = report.entries.iter().map(|entry| 1 + 2 * entry.calls.len()).sum();
    let mut room = Room::new(texts);
    let answers = report.reminders.iter().filter_map(|reminder| report.requests.get(reminder.answered? - 1));
    let answers: HashSet<u64> = answers.map(|request| request.seq).collect();
    let count = |wanted: &dyn Fn(&Shown) -> bool| number(report.entries.iter().filter(|entry| wanted(entry)).count());
    let filters = [
        ("all", "All", number(report.entries.len())),
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
        }
        @if let Some(instructions) = &report.instructions {
            article { p.m { b { "instructions" } } (room.text(instructions)) }
        }
        p.m.none { "Nothing of this kind." }
        @for entry in &report.entries { (article(entry, answers.contains(&entry.seq), &mut room)) }
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
            @if !entry.text.is_empty() { (room.text(&entry.text)) }
            @for call in &entry.calls { (draw_call(call, room)) }
        }
    }
}

fn draw_call(call: &Call, room: &mut Room) -> Markup {
    html! {
        details {
            summary {
                code { bdi { (one_line(&call.name, 64)) } } " "
                bdi { (one_line(&call.arguments, 70)) }
                @if call.failed() { " " span.bad { @if call.result.is_some() { "failed" } @else { "no result" } } }
            }
            (room.whole(&call.arguments))
            @match &call.result {
                Some(result) => { (room.whole(result)) }
                None => { p.m { "No result was recorded: it was interrupted, and may or may not have run." } }
            }
        }
    }
}
