use std::{
    io::{IsTerminal, stderr},
    sync::atomic::{AtomicBool, Ordering},
};

use insomnia_tasks::{
    Cost,
    reminder::Decision,
    task::{Task, TaskStore},
    worker::{Event, Turn, TurnError},
};
use serde_json::Value;

use crate::{
    endpoint::Endpoint,
    hints::hint,
    live::Live,
    plain::Plain,
    session::Opened,
    task_list,
    terminal::{DIM, FAIL, WARN, counted, is_dumb, one_line, visible},
};

/// The text form: answers on stdout, everything else on stderr, or all of it drawn on a terminal.
pub(crate) struct Text {
    tasks: TaskStore,
    display: Display,
    notes_to_terminal: bool,
    /// Whether the tasks have changed since they were shown.
    changed: AtomicBool,
}

enum Display {
    Plain(Plain),
    Live(Live),
}

impl Text {
    pub(crate) fn new(tasks: &TaskStore) -> Self {
        let notes_to_terminal = stderr().is_terminal();
        let display = if notes_to_terminal && !is_dumb() {
            Display::Live(Live::new(tasks))
        } else {
            Display::Plain(Plain::new(tasks))
        };
        Self { tasks: tasks.clone(), display, notes_to_terminal, changed: AtomicBool::new(false) }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        if endpoint.demo.is_none() {
            self.note(format_args!("{DIM}{} at {}{DIM:#}", visible(&endpoint.model), visible(&endpoint.shown_url())));
        }
        let messages = opened.pod.history().len();
        if messages > 0 {
            let folder = visible(&opened.place);
            self.note(format_args!("{DIM}resumed {folder} with {}{DIM:#}", counted(messages, "message")));
            self.tasks(false);
        }
    }

    /// `typed` if the prompt stands on the terminal already.
    pub(crate) fn turn_started(&self, prompt: &str, typed: bool) {
        if !typed && self.notes_to_terminal {
            self.note(format_args!("> {}", one_line(prompt, 500)));
        }
        if let Display::Live(live) = &self.display {
            live.begin();
        }
    }

    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::RequestStarted { number } => {
                self.show_changed();
                if let Display::Live(live) = &self.display {
                    live.update(|status| (status.requests, status.doing) = (*number, "thinking".to_owned()));
                }
            }
            Event::TextDelta(text) => self.answer(text),
            Event::ReasoningDelta(text) => {
                if let Display::Live(live) = &self.display {
                    live.update(|status| status.came(text));
                }
            }
            Event::RequestFinished { .. } => self.end_answer(),
            Event::Usage(usage) => {
                if let Display::Live(live) = &self.display {
                    live.update(|status| status.spent(usage));
                }
            }
            Event::ReminderDecided(decision @ Decision::Remind { .. }) => {
                self.show_changed();
                let counts = self.tasks.counts();
                let open = match counts.pending + counts.inprogress {
                    1 => "1 task is open and was".to_owned(),
                    open => format!("{open} tasks are open and were"),
                };
                self.short(format_args!("{DIM}⏰ {decision}: {open} not touched for a while{DIM:#}"));
            }
            Event::Retrying { wait, error, void } => {
                if let (Display::Live(live), true) = (&self.display, *void) {
                    live.void_answer();
                }
                self.note(format_args!("{WARN}{}{WARN:#}{DIM}; trying again in {wait:.1?}{DIM:#}", visible(error)));
                self.doing("waiting to try again");
            }
            Event::DialectChanged(_) => {
                self.note(format_args!("{DIM}the server refused the form of the request; it gets another one{DIM:#}"));
            }
            Event::ToolStarted { name, arguments, .. } => {
                let name = one_line(name, 64);
                match said(arguments) {
                    nothing if nothing.is_empty() => self.short(format_args!("• {name}")),
                    said => self.short(format_args!("• {name} {DIM}{said}{DIM:#}")),
                }
                if let Display::Live(live) = &self.display {
                    live.update(|status| status.came(arguments));
                }
                self.doing(&format!("running {name}"));
            }
            Event::ToolFinished { name, ok: false, result, .. } => {
                self.short(format_args!("{FAIL}  {}: {}{FAIL:#}", one_line(name, 64), one_line(result, 160)));
            }
            _ => {}
        }
    }

    /// Has the task list shown before the next request, or at once where that costs no lines: the calls of one answer often
    /// change several tasks.
    pub(crate) fn tasks_changed(&self) {
        match &self.display {
            Display::Plain(_) => self.changed.store(true, Ordering::Relaxed),
            Display::Live(live) => live.tasks_changed(),
        }
    }

    fn show_changed(&self) {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.tasks(false);
        }
    }

    /// The task list with marks; folded unless `all` are asked for.
    pub(crate) fn tasks(&self, all: bool) {
        let limit = all.then_some(usize::MAX);
        match &self.display {
            Display::Plain(plain) => plain.tasks(limit),
            Display::Live(live) => live.tasks(limit),
        }
    }

    /// A task that the person has changed.
    pub(crate) fn task_edited(&self, task: &Task) {
        self.short(format_args!("{}", task_list::line(task)));
    }

    pub(crate) fn turn_finished(&self, turn: &Turn) {
        self.end_turn();
        let counts = self.tasks.counts();
        let tasks = match counts.pending + counts.inprogress + counts.completed {
            0 => String::new(),
            all => format!(" · {} of {} completed", counts.completed, counted(all, "task")),
        };
        self.note(format_args!("{DIM}— {}{tasks}{DIM:#}", counted(turn.requests, "request")));
    }

    pub(crate) fn working(&self, what: &str) {
        if let Display::Live(live) = &self.display {
            live.begin();
        }
        self.doing(what);
    }

    pub(crate) fn worked(&self) {
        self.end_turn();
    }

    pub(crate) fn turn_failed(&self, error: &TurnError) {
        self.end_turn();
        self.note(format_args!("{FAIL}error:{FAIL:#} {}", visible(&error.to_string())));
        if let Some(hint) = hint(error) {
            self.note(format_args!("{DIM}hint: {hint}{DIM:#}"));
        }
    }

    pub(crate) fn turn_cancelled(&self) {
        self.end_turn();
        self.note(format_args!("{WARN}cancelled{WARN:#}{DIM}; the next prompt goes on from here{DIM:#}"));
    }

    pub(crate) fn closed(&self, cost: &Cost, folder: &str, resume: &str) {
        if cost.requests > 0 {
            self.note(format_args!("{DIM}{cost}{DIM:#}"));
        }
        // the command names the folder; a person may want to look into it
        let at = if self.notes_to_terminal { format!(" in {}", visible(folder)) } else { String::new() };
        self.note(format_args!("{DIM}the session is kept{at}; to go on with it:{DIM:#}\n  {}", visible(resume)));
    }

    fn end_turn(&self) {
        self.show_changed();
        self.end_answer();
        if let Display::Live(live) = &self.display {
            live.end();
        }
    }

    fn doing(&self, what: &str) {
        if let Display::Live(live) = &self.display {
            live.update(|status| status.doing = what.to_owned());
        }
    }

    fn note(&self, line: std::fmt::Arguments<'_>) {
        self.end_answer();
        match &self.display {
            Display::Plain(plain) => plain.line(&line.to_string()),
            Display::Live(live) => live.line(&line.to_string()),
        }
    }

    /// A line that is cut where the terminal ends.
    fn short(&self, line: std::fmt::Arguments<'_>) {
        match &self.display {
            Display::Plain(_) => self.note(line),
            Display::Live(live) => {
                self.end_answer();
                live.short_line(&line.to_string());
            }
        }
    }

    fn answer(&self, text: &str) {
        match &self.display {
            Display::Plain(plain) => plain.answer(text),
            Display::Live(live) => live.answer(text),
        }
    }

    fn end_answer(&self) {
        match &self.display {
            Display::Plain(plain) => plain.end_answer(),
            Display::Live(live) => live.end_answer(),
        }
    }
}

/// A call's arguments for people: the values alone where they are a plain object.
pub(crate) fn said(arguments: &str) -> String {
    let values = match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => object.into_values().map(|value| match value {
            Value::String(text) => one_line(&text, 60),
            other => one_line(&other.to_string(), 60),
        }),
        _ => return one_line(arguments, 100),
    };
    one_line(&values.filter(|value| !value.is_empty()).collect::<Vec<_>>().join(" · "), 100)
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn arguments_are_said_in_one_short_line() {
        assert_eq!(said(r#"{"taskid":1,"status":"completed"}"#), "1 · completed");
        assert_eq!(said(r#"{"path":"a\n\u001b[2Jb","first_line":null}"#), "a [2Jb · null");
        assert_eq!(said("{}"), "");
        assert_eq!(said("{\"half\n"), "{\"half");
        let long = serde_json::json!({"a": "x".repeat(99), "b": "y".repeat(99)}).to_string();
        assert_eq!(said(&long).chars().count(), 101);
    }
}
