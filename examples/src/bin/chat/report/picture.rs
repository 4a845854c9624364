//! The picture: requests from left to right, one lane per task, reminders above, tokens below.

use std::fmt::Write;

use insomnia_tasks::task::TaskStatus;
use maud::{Markup, PreEscaped, html};

use super::{
    lanes::{Lane, Span},
    model::{Report, Request},
    text::{number, one_line},
};

/// The picture's own style, which takes its colours from the page if it stands in one.
pub(super) const STYLE: &str = include_str!("picture.css");

const LEFT: f64 = 210.0;
const WIDTH: f64 = 960.0;
const RIGHT: f64 = 30.0;
const REMINDERS: f64 = 26.0;
const LANES: f64 = 50.0;
const TOKENS: f64 = 96.0;

/// Where things stand.
struct Places {
    requests: usize,
    lane: f64,
    /// Where the lanes end.
    bottom: f64,
}

impl Places {
    fn new(report: &Report) -> Self {
        let lanes = report.lanes.len().max(1) as f64;
        let lane = (1_600.0 / lanes).clamp(5.0, 26.0);
        Self { requests: report.requests.len().max(1), lane, bottom: LANES + lane * lanes }
    }

    /// Where the boundary behind so many requests is.
    fn x(&self, requests: usize) -> f64 {
        LEFT + WIDTH * requests as f64 / self.requests as f64
    }

    /// The middle of a request.
    fn middle(&self, request: usize) -> f64 {
        (self.x(request.saturating_sub(1)) + self.x(request)) / 2.0
    }

    fn tokens_end(&self) -> f64 {
        self.bottom + 34.0 + TOKENS
    }

    fn height(&self) -> f64 {
        self.tokens_end() + 46.0
    }
}

/// A length with one digit behind the point, which is finer than any screen.
fn n(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The picture as a file of its own.
pub(super) fn standalone(report: &Report) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", draw(report, false).into_string())
}

/// The picture as a part of the page, whose entries its links lead to.
pub(super) fn inline(report: &Report) -> Markup {
    draw(report, true)
}

fn draw(report: &Report, page: bool) -> Markup {
    let places = Places::new(report);
    let (width, height) = (LEFT + WIDTH + RIGHT, places.height());
    let label = format!(
        "{} requests, {} tasks, {} reminders",
        number(report.requests.len()),
        number(report.lanes.len()),
        number(report.reminders.len())
    );
    html! {
        svg.picture xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (n(width)) " " (n(height)) } role="group" aria-label=(label) {
            @if !page { style { (PreEscaped(STYLE)) } rect.ground width="100%" height="100%" {} }
            (frame(report, &places))
            rect.hit x=(n(LEFT)) y="0" width=(n(WIDTH)) height=(n(places.tokens_end())) data-requests=(report.requests.len()) {}
            @for (index, lane) in report.lanes.iter().enumerate() { (draw_lane(lane, index, &places, page)) }
            @for (seq, requests) in &report.compactions {
                (linked(page, *seq, &format!("Compaction after request {requests}"), html! {
                    path.compaction d={ "M" (n(places.x(*requests))) " " (n(LANES - 6.0)) "V" (n(places.tokens_end())) } {}
                }))
            }
            (reminders(report, &places, page))
            (tokens(&report.requests, &places))
            (legend(&places))
        }
    }
}

/// A link where there is something to lead to.
fn linked(page: bool, seq: u64, label: &str, what: Markup) -> Markup {
    html! {
        @if page { a href={ "#e" (seq) } aria-label=(label) { title { (label) } (what) } }
        @else { g { title { (label) } (what) } }
    }
}

fn frame(report: &Report, places: &Places) -> Markup {
    let step = tick(places.requests);
    let (top, end) = (n(LANES - 6.0), n(places.tokens_end()));
    html! {
        text.axis x=(n(LEFT - 12.0)) y=(n(REMINDERS + 4.0)) text-anchor="end" { "Reminders" }
        @if report.lanes.is_empty() {
            text.axis x=(n(LEFT - 12.0)) y=(n(LANES + 17.0)) text-anchor="end" { "No task" }
        }
        @for request in (step..=report.requests.len()).step_by(step) {
            path.grid d={ "M" (n(places.middle(request))) " " (top) "V" (end) } {}
            text.axis x=(n(places.middle(request))) y=(n(places.tokens_end() + 16.0)) text-anchor="middle" { (number(request)) }
        }
        text.axis x=(n(LEFT - 12.0)) y=(n(places.tokens_end() + 16.0)) text-anchor="end" { "Request" }
    }
}

/// A round number of requests of which at most a dozen fit: 1, 2, 5, 10, 20, 50 …
fn tick(requests: usize) -> usize {
    let (mut step, mut ten) = (1, 1);
    while requests / step > 12 {
        (step, ten) = match step / ten {
            1 => (2 * ten, ten),
            2 => (5 * ten, ten),
            _ => (10 * ten, 10 * ten),
        };
    }
    step
}

fn draw_lane(lane: &Lane, index: usize, places: &Places, page: bool) -> Markup {
    let y = LANES + places.lane * index as f64;
    let bar = (places.lane - 8.0).max(places.lane * 0.7);
    let subject = one_line(&lane.subject, 200);
    let label = format!("Task {} ({}): {subject}", lane.taskid, lane.status());
    html! {
        @if places.lane >= 12.0 {
            (linked(page, lane.seq, &label, html! {
                text.name x=(n(LEFT - 12.0)) y=(n(y + places.lane / 2.0 + 4.0)) text-anchor="end" {
                    (one_line(&lane.subject, 24)) " " tspan.id { (lane.taskid) }
                }
            }))
        }
        @for span in &lane.spans { (draw_span(span, y + (places.lane - bar) / 2.0, bar, places, &label)) }
    }
}

fn draw_span(span: &Span, y: f64, bar: f64, places: &Places, label: &str) -> Markup {
    // a change is seen where its request is, also when it is the last
    let from = places.middle(span.from.max(1));
    let to = if span.to >= places.requests { places.x(places.requests) } else { places.middle(span.to.max(1)) };
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
    html! {
        @for reminder in &report.reminders {
            @let x = places.middle(reminder.request);
            @if let Some(answered) = reminder.answered {
                path.wait d={ "M" (n(x)) " " (n(REMINDERS)) "H" (n(places.middle(answered))) } {}
                @if let Some(answer) = report.requests.get(answered - 1) {
                    (linked(page, answer.seq, &format!("Answered in request {answered}"), html! {
                        circle.answered cx=(n(places.middle(answered))) cy=(n(REMINDERS - 13.0)) r="5" {}
                        path.wait d={ "M" (n(places.middle(answered))) " " (n(REMINDERS)) "v-8" } {}
                    }))
                }
            }
            @let after = reminder.answered.map_or("not answered".to_owned(), |number| format!("answered in request {number}"));
            (linked(page, reminder.seq, &format!("Reminder before request {}, {after}", reminder.request), html! {
                path.reminder d={ "M" (n(x)) " " (n(REMINDERS - 8.0)) "l8 14h-16z" } {}
            }))
        }
    }
}

fn tokens(requests: &[Request], places: &Places) -> Markup {
    let prompt = |request: &Request| request.usage.and_then(|usage| usage.prompt_tokens).unwrap_or(0);
    let answer = |request: &Request| request.usage.and_then(|usage| usage.completion_tokens).unwrap_or(0);
    let most = requests.iter().map(|request| prompt(request).saturating_add(answer(request))).max().unwrap_or(0);
    let (end, top) = (places.tokens_end(), places.tokens_end() - TOKENS);
    let steps = |tokens: &dyn Fn(&Request) -> u64| {
        let mut path = format!("M{} {}", n(LEFT), n(end));
        let mut last = String::new();
        for (index, request) in requests.iter().enumerate() {
            let height = n(end - TOKENS * tokens(request) as f64 / most.max(1) as f64);
            // as long as nothing changes one line goes on
            if height != last {
                let _ = write!(path, "H{}V{height}", n(places.x(index)));
                last = height;
            }
        }
        let _ = write!(path, "H{}V{}z", n(places.x(requests.len())), n(end));
        path
    };
    html! {
        text.axis x=(n(LEFT - 12.0)) y=(n(end - 4.0)) text-anchor="end" { "Tokens" }
        path.base d={ "M" (n(LEFT)) " " (n(end)) "h" (n(WIDTH)) } {}
        @if most == 0 {
            text.axis x=(n(LEFT + 8.0)) y=(n(end - 10.0)) { "The server told no token counts." }
        } @else {
            text.axis x=(n(LEFT - 12.0)) y=(n(top + 9.0)) text-anchor="end" { (number(most)) }
            path.base d={ "M" (n(LEFT)) " " (n(top)) "h" (n(WIDTH)) } {}
            path.completion d=(steps(&|request| prompt(request).saturating_add(answer(request)))) {}
            path.prompt d=(steps(&prompt)) {}
        }
    }
}

fn legend(places: &Places) -> Markup {
    let y = places.tokens_end() + 36.0;
    let at = |index: usize| LEFT + 118.0 * index as f64;
    let words = ["pending", "in progress", "completed", "reminder", "answered", "prompt", "answer"];
    html! {
        rect.pending x=(n(at(0))) y=(n(y - 10.0)) width="16" height="11" rx="3" {}
        rect.inprogress x=(n(at(1))) y=(n(y - 10.0)) width="16" height="11" rx="3" {}
        g.completed { path d={ "M" (n(at(2))) " " (n(y - 4.0)) "h16" } {} circle cx=(n(at(2) + 4.0)) cy=(n(y - 4.0)) r="4.5" {} }
        path.reminder d={ "M" (n(at(3) + 8.0)) " " (n(y - 11.0)) "l7 12h-14z" } {}
        circle.answered cx=(n(at(4) + 8.0)) cy=(n(y - 4.0)) r="5" {}
        rect.prompt x=(n(at(5))) y=(n(y - 10.0)) width="16" height="11" {}
        rect.completion x=(n(at(6))) y=(n(y - 10.0)) width="16" height="11" {}
        @for (index, word) in words.into_iter().enumerate() {
            text.axis x=(n(at(index) + 22.0)) y=(n(y)) { (word) }
        }
    }
}
