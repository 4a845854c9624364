use std::{
    io::{IsTerminal, Write, stderr, stdout},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anstyle::{AnsiColor, Style};
use insomnia_tasks::{
    Cost,
    reminder::Decision,
    task::{TaskStatus, TaskStore},
    worker::{Event, Turn, TurnError},
};
use serde_json::Value;

use crate::{
    endpoint::Endpoint,
    hints::hint,
    session::Opened,
    spinner::Spinner,
    terminal::{DIM, WARN, note, one_line, visible},
};

const FAIL: Style = AnsiColor::Red.on_default();
const GOOD: Style = AnsiColor::Green.on_default();

/// How many tasks are shown before the rest is only counted.
const TASKS_SHOWN: usize = 10;

/// The text form: answers on stdout, everything else on stderr.
pub(crate) struct Text {
    tasks: TaskStore,
    answers_to_terminal: bool,
    notes_to_terminal: bool,
    /// Whether the tasks have changed since they were shown.
    changed: AtomicBool,
    // a std mutex: held while something is printed, never across an await
    state: Mutex<State>,
}

struct State {
    spinner: Spinner,
    /// Whether the answer's last line is still open.
    line_open: bool,
}

impl Text {
    pub(crate) fn new(tasks: &TaskStore) -> Self {
        Self {
            tasks: tasks.clone(),
            answers_to_terminal: stdout().is_terminal(),
            notes_to_terminal: stderr().is_terminal(),
            changed: AtomicBool::new(false),
            state: Mutex::new(State { spinner: Spinner::new(), line_open: false }),
        }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        if endpoint.demo.is_none() {
            note!("{DIM}{} at {}{DIM:#}", visible(&endpoint.model), visible(&endpoint.shown_url()));
        }
        let messages = opened.pod.history().len();
        if messages > 0 {
            note!("{DIM}resumed {} with {messages} messages{DIM:#}", opened.folder.display());
            self.tasks();
        }
    }

    /// Shows the prompt of a turn that nobody typed here.
    pub(crate) fn prompt(&self, prompt: &str) {
        if self.notes_to_terminal {
            note!("> {}", one_line(prompt, 500));
        }
    }

    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::RequestStarted { number } => {
                self.show_changed();
                self.wait(format!("thinking, request {number}"));
            }
            Event::TextDelta(text) => self.answer(text),
            Event::RequestFinished { .. } => self.end_line(),
            Event::ReminderDecided(decision @ Decision::Remind { .. }) => {
                self.show_changed();
                let counts = self.tasks.counts();
                let open = match counts.pending + counts.inprogress {
                    1 => "1 task is open and was".to_owned(),
                    open => format!("{open} tasks are open and were"),
                };
                self.note(format_args!("{WARN}⏰ {decision}: {open} not touched for a while{WARN:#}"));
            }
            Event::Retrying { wait, error, .. } => {
                self.note(format_args!("{WARN}{}{WARN:#}{DIM}; trying again in {wait:.1?}{DIM:#}", visible(error)));
                self.wait("waiting to try again".to_owned());
            }
            Event::DialectChanged(_) => {
                self.note(format_args!("{DIM}the server refused the form of the request; it gets another one{DIM:#}"));
            }
            Event::ToolStarted { name, arguments, .. } => {
                let name = one_line(name, 64);
                match said(arguments) {
                    nothing if nothing.is_empty() => self.note(format_args!("• {name}")),
                    said => self.note(format_args!("• {name} {DIM}{said}{DIM:#}")),
                }
                self.wait(format!("running {name}"));
            }
            Event::ToolFinished { name, ok: false, result, .. } => {
                self.note(format_args!("{FAIL}  {}: {}{FAIL:#}", one_line(name, 64), one_line(result, 160)));
            }
            _ => {}
        }
    }

    /// Has the task list shown before the next request: the calls of one answer often change several tasks.
    pub(crate) fn tasks_changed(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    fn show_changed(&self) {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.tasks();
        }
    }

    /// The task list with marks.
    pub(crate) fn tasks(&self) {
        let all = self.tasks.list();
        let listed: Vec<_> = all.iter().filter(|task| task.status != TaskStatus::Deleted).collect();
        // the tail is where the work is
        let skipped = listed.len().saturating_sub(TASKS_SHOWN);
        self.end_line();
        if skipped > 0 {
            note!("    {DIM}… {skipped} more above{DIM:#}");
        }
        for task in listed.iter().skip(skipped) {
            let (mark, style) = match task.status {
                TaskStatus::Completed => ("✔", GOOD),
                TaskStatus::InProgress => ("▶", WARN),
                TaskStatus::Pending | TaskStatus::Deleted => ("○", DIM),
            };
            note!("    {style}{mark}{style:#} {:>2} {}", task.taskid, one_line(&task.subject, 100));
        }
    }

    pub(crate) fn turn_finished(&self, turn: &Turn) {
        self.show_changed();
        self.end_line();
        let plural = if turn.requests == 1 { "" } else { "s" };
        let counts = self.tasks.counts();
        let tasks = match counts.pending + counts.inprogress + counts.completed {
            0 => String::new(),
            all => format!(" · {} of {all} tasks completed", counts.completed),
        };
        note!("{DIM}— {} request{plural}{tasks}{DIM:#}", turn.requests);
    }

    pub(crate) fn turn_failed(&self, error: &TurnError) {
        self.show_changed();
        self.end_line();
        note!("{FAIL}error:{FAIL:#} {}", visible(&error.to_string()));
        if let Some(hint) = hint(error) {
            note!("{DIM}hint: {hint}{DIM:#}");
        }
    }

    pub(crate) fn turn_cancelled(&self) {
        self.show_changed();
        self.end_line();
        note!("{WARN}cancelled{WARN:#}{DIM}; the next prompt goes on from here{DIM:#}");
    }

    pub(crate) fn closed(&self, cost: &Cost, resume: &str) {
        self.end_line();
        if cost.requests > 0 {
            note!("{DIM}{cost}{DIM:#}");
        }
        note!("{DIM}the session is kept; to go on with it:{DIM:#}\n  {}", visible(resume));
    }

    fn note(&self, line: std::fmt::Arguments<'_>) {
        self.end_line();
        note!("{line}");
    }

    fn answer(&self, text: &str) {
        let mut state = self.stop_waiting();
        let text = if self.answers_to_terminal { visible(text) } else { text.to_owned() };
        let mut out = stdout().lock();
        // a reader that has gone away ends nothing: the session goes on to be stored
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if !text.is_empty() {
            state.line_open = !text.ends_with('\n');
        }
    }

    fn end_line(&self) {
        let mut state = self.stop_waiting();
        if std::mem::take(&mut state.line_open) {
            let _ = writeln!(stdout());
        }
    }

    fn wait(&self, what: String) {
        self.stop_waiting().spinner.start(what);
    }

    fn stop_waiting(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.spinner.stop();
        state
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
