use std::time::{Duration, Instant};

use console::{measure_text_width, truncate_str};
use insomnia_tasks::wire::Usage;

use crate::terminal::DIM;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Below this width words are shortened.
const NARROW: usize = 60;

/// How many columns there are for what is under way before figures are left out for it.
const LEAST: usize = 8;

/// An estimate that is good enough until the server tells.
const BYTES_PER_TOKEN: u64 = 4;

/// How far a turn is.
pub(crate) struct Status {
    since: Instant,
    pub(crate) requests: u64,
    /// As the server told them.
    tokens: u64,
    /// Of answers for which it has told none yet, or never will.
    bytes: usize,
    pub(crate) doing: String,
}

impl Status {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), requests: 0, tokens: 0, bytes: 0, doing: "thinking".to_owned() }
    }

    pub(crate) fn spent(&mut self, usage: &Usage) {
        let parts = usage.prompt_tokens.unwrap_or(0).saturating_add(usage.completion_tokens.unwrap_or(0));
        self.tokens = self.tokens.saturating_add(usage.total_tokens.unwrap_or(parts));
        self.bytes = 0;
    }

    /// Counts a piece of an answer until the server says what it has cost.
    pub(crate) fn came(&mut self, piece: &str) {
        self.bytes += piece.len();
    }

    /// One line: the task in progress, else what is under way, and what the turn has taken so far.
    pub(crate) fn line(&self, task: Option<&str>, width: usize) -> String {
        self.line_after(self.since.elapsed(), task, width)
    }

    fn line_after(&self, time: Duration, task: Option<&str>, width: usize) -> String {
        let [request, tokens] = if width < NARROW { ["req", "tok"] } else { ["request", "tokens"] };
        let mut parts = Vec::new();
        if self.requests > 0 {
            parts.push(format!("{request} {}", self.requests));
        }
        match (self.tokens, self.bytes as u64 / BYTES_PER_TOKEN) {
            (0, 0) => {}
            (told, 0) => parts.push(format!("{} {tokens}", short(told))),
            // nobody says what the request has cost: then it is what the model has written
            (0, written) => parts.push(format!("~{} {tokens} out", short(written))),
            (told, written) => parts.push(format!("~{} {tokens}", short(told.saturating_add(written)))),
        }
        parts.push(format!("{} s", time.as_secs()));
        // the figures are short; what is said of the task takes what is left, and where that is too little, they give way
        let room = |parts: &[String]| width.saturating_sub(measure_text_width(&parts.join(" · ")) + 5);
        while parts.len() > 1 && room(&parts) < LEAST {
            parts.remove(parts.len() - 2);
        }
        let (room, counts) = (room(&parts), parts.join(" · "));
        let frame = FRAMES[(time.as_millis() / 100) as usize % FRAMES.len()];
        let what = task.map_or_else(|| self.doing.clone(), |task| format!("▶ {task}"));
        if room < 3 {
            return format!("{DIM}{frame} {counts}{DIM:#}");
        }
        let what = truncate_str(&what, room, "…");
        format!("{DIM}{frame} {what} · {counts}{DIM:#}")
    }
}

fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_done_and_what_it_took() {
        let mut status = Status::new();
        let line = |status: &Status, task, width| {
            let line = status.line_after(Duration::from_millis(12_345), task, width);
            anstream::adapter::strip_str(&line).to_string()
        };
        assert_eq!(line(&status, None, 80), "⠸ thinking · 12 s");
        status.requests = 3;
        status.came("eight by");
        assert_eq!(line(&status, None, 80), "⠸ thinking · request 3 · ~2 tokens out · 12 s");
        let mut usage = Usage::default();
        usage.prompt_tokens = Some(1_200);
        usage.completion_tokens = Some(34);
        status.spent(&usage);
        usage.total_tokens = Some(2_000_000);
        assert_eq!(line(&status, Some("Read it"), 80), "⠸ ▶ Read it · request 3 · 1.2k tokens · 12 s");
        status.spent(&usage);
        status.came("four");
        assert_eq!(line(&status, None, 80), "⠸ thinking · request 3 · ~2.0M tokens · 12 s");
        status.spent(&Usage::default());
        let narrow = line(&status, Some("漢字漢字漢字"), 39);
        assert_eq!(narrow, "⠸ ▶ 漢字漢字… · req 3 · 2.0M tok · 12 s");
        assert!(measure_text_width(&narrow) <= 39);
        assert_eq!(line(&status, Some("漢字漢字漢字"), 29), "⠸ ▶ 漢字漢字… · req 3 · 12 s");
        assert_eq!(line(&status, Some("Read it"), 19), "⠸ ▶ Read it · 12 s");
        assert_eq!(line(&status, None, 13), "⠸ thi… · 12 s");
        assert_eq!(line(&status, Some("Read it"), 9), "⠸ 12 s");
    }
}
