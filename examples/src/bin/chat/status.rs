//! The line about the turn that runs.

use std::time::Instant;

use console::truncate_str;
use insomnia_tasks::{
    task::{TaskStatus, TaskStore},
    worker::Event,
};

use crate::terminal::{DIM, WARN, one_line};

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What the status line tells.
pub(crate) struct Status {
    since: Instant,
    requests: u64,
    tokens: u64,
    doing: String,
}

impl Status {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), requests: 0, tokens: 0, doing: "thinking".to_owned() }
    }

    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::RequestStarted { number } => {
                self.requests = *number;
                "thinking".clone_into(&mut self.doing);
            }
            Event::Usage(usage) => {
                let both = usage.prompt_tokens.unwrap_or(0) + usage.completion_tokens.unwrap_or(0);
                self.tokens += usage.total_tokens.unwrap_or(both);
            }
            Event::TextDelta(_) => "answering".clone_into(&mut self.doing),
            Event::ToolStarted { name, .. } => self.doing = format!("running {}", one_line(name, 30)),
            Event::Retrying { .. } => "waiting to try again".clone_into(&mut self.doing),
            _ => {}
        }
    }

    /// The task in progress, or what is done if there is none; requests, tokens, seconds. The task gives way where room is
    /// short.
    pub(crate) fn line(&self, tasks: &TaskStore, columns: usize) -> String {
        let elapsed = self.since.elapsed();
        let frame = FRAMES[usize::try_from(elapsed.as_millis() / 100).unwrap_or(0) % FRAMES.len()];
        let mut figures = format!(" · request {}", self.requests.max(1));
        if self.tokens > 0 {
            figures += &format!(" · {} tokens", short(self.tokens));
        }
        figures += &format!(" · {} s", elapsed.as_secs());
        let room = columns.saturating_sub(figures.chars().count() + 3).max(8);
        let doing = match tasks.active(usize::MAX).into_iter().find(|task| task.status == TaskStatus::InProgress) {
            Some(task) => {
                let subject = one_line(&task.subject, 100);
                let subject = truncate_str(&subject, room.saturating_sub(2), "…");
                format!("{WARN}▶{WARN:#} {subject}")
            }
            None => truncate_str(&self.doing, room, "…").into_owned(),
        };
        format!("{DIM}{frame}{DIM:#} {doing}{DIM}{figures}{DIM:#}")
    }
}

/// A count in few characters.
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        100_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use console::{measure_text_width, strip_ansi_codes};
    use insomnia_tasks::wire::Usage;

    use super::*;

    #[test]
    fn counts_are_short() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1.0k"), (12_345, "12.3k"), (123_456, "123k"), (2_500_000, "2.5M")];
        for (count, said) in cases {
            assert_eq!(short(count), said);
        }
    }

    #[test]
    fn the_line_tells_the_task_and_fits() {
        let tasks = TaskStore::new();
        let mut status = Status::new();
        status.event(&Event::RequestStarted { number: 3 });
        status.event(&Event::Usage(Usage { total_tokens: Some(4_200), ..Usage::default() }));
        let line = |status: &Status, columns| strip_ansi_codes(&status.line(&tasks, columns)).into_owned();
        assert!(line(&status, 80).ends_with(" thinking · request 3 · 4.2k tokens · 0 s"));
        let call = Event::ToolStarted { id: "a".into(), name: "ReadFile".into(), arguments: "{}".into() };
        status.event(&call);
        assert!(line(&status, 80).contains("running ReadFile"));
        let task = tasks.create("日本語の長い名前を持つ仕事をする", "").unwrap();
        tasks.update(task.taskid, TaskStatus::InProgress).unwrap();
        assert!(line(&status, 80).contains("▶ 日本語の長い名前を持つ仕事をする · request 3"));
        let narrow = line(&status, 50);
        assert!(narrow.contains('…') && narrow.ends_with("0 s") && measure_text_width(&narrow) < 50, "{narrow}");
    }
}
