//! The picture: requests from left to right, one lane per task, reminders above, tokens below.

use std::fmt::Write;

use insomnia_tasks::{task::TaskStatus, wire::Usage};
use maud::{Markup, PreEscaped, html};

use super::{
    lanes::{Lane, Span},
    layout::{Layout, Places, WIDE},
    model::{Report, Request},
    text::{fitting, number, one_line},
};

/// The picture's own style, which takes its colours from the page if it stands in one.
pub(super) const STYLE: &str = include_str!("picture.css");

/// More turns than this would be a fence in front of the lanes.
const TURNS_SHOWN: usize = 60;

/// A length with one digit behind the point, which is finer than any screen.
fn n(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The picture as a file of its own.
pub(super) fn standalone(report: &Report) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", draw(report, &WIDE, false).into_string())
}

/// The picture as a part of the page, whose entries its links lead to.
pub(super) fn inline(report: &Report, layout: &'static Layout) -> Markup {
    draw(report, layout, true)
}

fn draw(report: &Report, layout: &'static Layout, page: bool) -> Markup {
    let places = Places::new(report, layout);
    let words = Words::of(report);
    let (width, height) = places.size(words.0.len());
    let end = places.tokens().2;
    let counted = |count: usize, what: &str| format!("{} {what}{}", number(count), if count == 1 { "" } else { "s" });
    let label = format!(
        "{}, {}, {}",
        counted(report.requests.len(), "request"),
        counted(report.lanes.len(), "task"),
        counted(report.reminders.len(), "reminder")
    );
    html! {
        svg class={ "picture" @if page && layout.column { " wide" } @else if page { " narrow" } }
            xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (n(width)) " " (n(height)) } role="group" aria-label=(label) {
            @if !page { style { (PreEscaped(STYLE)) } rect.ground width="100%" height="100%" {} }
            (frame(report, &places))
            @if page {
                rect.hit x=(n(layout.left)) y="0" width=(n(layout.width)) height=(n(end)) {}
                rect.cursor y=(n(places.top())) height=(n(end - places.top())) {}
            }
            @for (index, lane) in report.lanes.iter().enumerate() { (draw_lane(lane, index, &places, page)) }
            @for (seq, requests) in &report.compactions {
                (linked(page, *seq, &format!("Compaction after request {requests}"), html! {
                    path.compaction d=(across(&places, places.x(*requests))) {}
                }))
            }
            (reminders(report, &places, page))
            (tokens(&report.requests, &places))
            (legend(&words, &places))
        }
    }
}

/// A line across all lanes down to the tokens.
fn across(places: &Places, x: f64) -> String {
    format!("M{} {}V{}", n(x), n(places.top()), n(places.tokens().2))
}

/// A link where there is something to lead to.
fn linked(page: bool, seq: u64, label: &str, what: Markup) -> Markup {
    html! {
        @if page { a href={ "#e" (seq) } aria-label=(label) { title { (label) } (what) } }
        @else { g { title { (label) } (what) } }
    }
}

/// Words that stand in the column on the left, or above what they name.
fn caption(places: &Places, beside: f64, above: f64, words: &str) -> Markup {
    let layout = places.layout;
    html! {
        @if layout.column { text.axis x=(n(layout.left - 12.0)) y=(n(beside)) text-anchor="end" { (words) } }
        @else { text.axis x=(n(layout.left)) y=(n(above)) { (words) } }
    }
}

fn frame(report: &Report, places: &Places) -> Markup {
    let layout = places.layout;
    let step = tick(report.requests.len(), layout.ticks);
    let below = places.tokens().2 + 16.0;
    html! {
        (caption(places, layout.reminders + 4.0, 14.0, "Reminders"))
        @if report.lanes.is_empty() { (caption(places, layout.lanes + 17.0, layout.lanes + 14.0, "No task")) }
        @for request in (step..=report.requests.len()).step_by(step) {
            path.grid d=(across(places, places.middle(request))) {}
            text.axis x=(n(places.middle(request))) y=(n(below)) text-anchor="middle" { (number(request)) }
        }
        @if report.turns.len() <= TURNS_SHOWN {
            @for requests in report.turns.iter().filter(|requests| **requests > 0) {
                path.turn d=(across(places, places.x(*requests))) {}
            }
        }
        @if layout.column { text.axis x=(n(layout.left - 12.0)) y=(n(below)) text-anchor="end" { "Request" } }
    }
}

/// A round number of requests of which at most so many fit: 1, 2, 5, 10, 20, 50 …
fn tick(requests: usize, most: usize) -> usize {
    let (mut step, mut ten) = (1, 1);
    while requests / step > most {
        (step, ten) = match step / ten {
            1 => (2 * ten, ten),
            2 => (5 * ten, ten),
            _ => (10 * ten, 10 * ten),
        };
    }
    step
}

fn draw_lane(lane: &Lane, index: usize, places: &Places, page: bool) -> Markup {
    let layout = places.layout;
    let (top, y, bar) = places.bar(index);
    let label = format!("Task {} ({}): {}", lane.taskid, lane.status(), one_line(&lane.subject, 200));
    let name = fitting(&lane.subject, layout.name);
    html! {
        @if places.named {
            (linked(page, lane.seq, &label, html! {
                @if layout.column {
                    text.name x=(n(layout.left - 12.0)) y=(n(top + places.lane / 2.0 + 4.0)) text-anchor="end" {
                        (name) " " tspan.id { (lane.taskid) }
                    }
                } @else {
                    text.name x=(n(layout.left)) y=(n(top + 13.0)) { tspan.id { (lane.taskid) } " " (name) }
                }
            }))
        }
        @for span in &lane.spans { (draw_span(span, y, bar, places, &label)) }
    }
}

fn draw_span(span: &Span, y: f64, bar: f64, places: &Places, label: &str) -> Markup {
    // a change is seen where its request is, also when it is the last
    let (from, to) = (places.middle(span.from.max(1)), places.until(span.to));
    let middle = y + bar / 2.0;
    let title = html! { title { (label) " — " (span.status) " from request " (span.from) " to " (span.to) } };
    html! {
        @match span.status {
            TaskStatus::Completed => g.completed {
                (title)
                path d={ "M" (n(from)) " " (n(middle)) "H" (n(to)) } {}
                circle cx=(n(from)) cy=(n(middle)) r=(n((bar / 2.4).min(6.0))) {}
            },
            TaskStatus::Deleted => g.deleted {
                (title)
                path d={ "M" (n(from - 4.0)) " " (n(middle - 4.0)) "l8 8m0-8l-8 8" } {}
            },
            status => rect class=(status.as_str()) x=(n(from)) y=(n(y)) width=(n((to - from).max(1.0))) height=(n(bar)) rx="3" { (title) },
        }
    }
}

fn reminders(report: &Report, places: &Places, page: bool) -> Markup {
    let y = places.layout.reminders;
    html! {
        @for reminder in &report.reminders {
            @let x = places.middle(reminder.request);
            @if let Some(answered) = reminder.answered {
                @let there = places.middle(answered);
                path.wait d={ "M" (n(x)) " " (n(y)) "H" (n(there)) "v-8" } {}
                @if let Some(answer) = report.requests.get(answered - 1) {
                    (linked(page, answer.seq, &format!("Answered in request {answered}"), html! {
                        circle.answered cx=(n(there)) cy=(n(y - 14.0)) r="5" {}
                    }))
                }
            }
            @let after = reminder.answered.map_or("not answered".to_owned(), |number| format!("answered in request {number}"));
            (linked(page, reminder.seq, &format!("Reminder before request {}, {after}", reminder.request), html! {
                path.reminder d={ "M" (n(x)) " " (n(y - 8.0)) "l8 14h-16z" } {}
            }))
        }
    }
}

fn told(request: &Request, count: fn(&Usage) -> Option<u64>) -> u64 {
    request.usage.as_ref().and_then(count).unwrap_or(0)
}

fn prompt(request: &Request) -> u64 {
    told(request, |usage| usage.prompt_tokens)
}

fn both(request: &Request) -> u64 {
    prompt(request).saturating_add(told(request, |usage| usage.completion_tokens))
}

fn cached(request: &Request) -> u64 {
    told(request, |usage| usage.cached_tokens).min(prompt(request))
}

fn tokens(requests: &[Request], places: &Places) -> Markup {
    let most = requests.iter().map(both).max().unwrap_or(0);
    let ((top, height, end), layout) = (places.tokens(), places.layout);
    let steps = |tokens: fn(&Request) -> u64| {
        let mut path = format!("M{} {}", n(layout.left), n(end));
        let mut last = String::new();
        for (index, request) in requests.iter().enumerate() {
            let y = n(end - height * tokens(request) as f64 / most.max(1) as f64);
            // as long as nothing changes one line goes on
            if y != last {
                let _ = write!(path, "H{}V{y}", n(places.x(index)));
                last = y;
            }
        }
        let _ = write!(path, "H{}V{}z", n(places.x(requests.len())), n(end));
        path
    };
    html! {
        path.base d={ "M" (n(layout.left)) " " (n(end)) "h" (n(layout.width)) } {}
        @if most == 0 {
            (caption(places, end - 4.0, top - 8.0, "Tokens"))
            text.axis x=(n(layout.left + 8.0)) y=(n(end - 10.0)) { "The server told no token counts." }
        } @else {
            @if layout.column { (caption(places, end - 4.0, 0.0, "Tokens")) }
            (caption(places, top + 9.0, top - 8.0, &if layout.column { number(most) } else { format!("Tokens, up to {}", number(most)) }))
            path.base d={ "M" (n(layout.left)) " " (n(top)) "h" (n(layout.width)) } {}
            path.completion d=(steps(both)) {}
            path.prompt d=(steps(prompt)) {}
            @if requests.iter().any(|request| cached(request) > 0) { path.cached d=(steps(cached)) {} }
        }
    }
}

/// The words of the legend: those that the picture needs.
struct Words(Vec<&'static str>);

impl Words {
    fn of(report: &Report) -> Self {
        let has = |status| report.lanes.iter().flat_map(|lane| &lane.spans).any(|span| span.status == status);
        let all = [
            ("pending", true),
            ("in progress", true),
            ("completed", true),
            ("deleted", has(TaskStatus::Deleted)),
            ("reminder", true),
            ("answered", true),
            ("prompt", true),
            ("cached", report.requests.iter().any(|request| cached(request) > 0)),
            ("answer", true),
            ("compaction", !report.compactions.is_empty()),
        ];
        Self(all.into_iter().filter_map(|(word, needed)| needed.then_some(word)).collect())
    }
}

fn legend(words: &Words, places: &Places) -> Markup {
    let (in_row, step) = places.layout.legend;
    html! {
        @for (index, word) in words.0.iter().enumerate() {
            @let x = places.layout.left + step * (index % in_row) as f64;
            @let y = places.legend() + 20.0 * (index / in_row) as f64;
            @match *word {
                "pending" => rect.pending x=(n(x)) y=(n(y - 10.0)) width="16" height="11" rx="3" {},
                "in progress" => rect.inprogress x=(n(x)) y=(n(y - 10.0)) width="16" height="11" rx="3" {},
                "completed" => g.completed { path d={ "M" (n(x)) " " (n(y - 4.0)) "h16" } {} circle cx=(n(x + 4.0)) cy=(n(y - 4.0)) r="4.5" {} },
                "deleted" => g.deleted { path d={ "M" (n(x + 4.0)) " " (n(y - 8.0)) "l8 8m0-8l-8 8" } {} },
                "reminder" => path.reminder d={ "M" (n(x + 8.0)) " " (n(y - 11.0)) "l7 12h-14z" } {},
                "answered" => circle.answered cx=(n(x + 8.0)) cy=(n(y - 4.0)) r="5" {},
                "prompt" => rect.prompt x=(n(x)) y=(n(y - 10.0)) width="16" height="11" {},
                "cached" => rect.cached x=(n(x)) y=(n(y - 10.0)) width="16" height="11" {},
                "answer" => rect.completion x=(n(x)) y=(n(y - 10.0)) width="16" height="11" {},
                _ => path.compaction d={ "M" (n(x + 8.0)) " " (n(y - 12.0)) "v14" } {},
            }
            text.axis x=(n(x + 22.0)) y=(n(y)) { (word) }
        }
    }
}
