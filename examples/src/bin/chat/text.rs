use std::{
    io::{IsTerminal, Write, stderr, stdout},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anstream::eprintln;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use insomnia_tasks::{
    reminder::Decision,
    task::{TaskStatus, TaskStore},
    worker::{Event, Turn, TurnError},
};

use crate::{endpoint::Endpoint, session::Opened};

const DIM: Style = Style::new().dimmed();
const WARN: Style = AnsiColor::Yellow.on_default();
const FAIL: Style = AnsiColor::Red.on_default();
const GOOD: Style = AnsiColor::Green.on_default();

/// How many tasks are shown before the rest is only counted.
const TASKS_SHOWN: usize = 10;

/// The text form: answers on stdout, everything else on stderr.
pub(crate) struct Text {
    answers_to_terminal: bool,
    notes_to_terminal: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spinner: Option<ProgressBar>,
    /// Whether the answer's last line is still open.
    line_open: bool,
    /// Tasks that have changed since they were shown.
    changed: Option<TaskStore>,
}

impl Text {
    pub(crate) fn new() -> Self {
        Self {
            answers_to_terminal: stdout().is_terminal(),
            notes_to_terminal: stderr().is_terminal(),
            state: Mutex::default(),
        }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        if endpoint.demo.is_some() {
            eprintln!(
                "{WARN}This is the demo: a built-in server on loopback that follows a script, no language model.{WARN:#}\n\
                 {DIM}For a real one give --base-url and --model, or set OPENAI_API_KEY.{DIM:#}"
            );
        } else {
            eprintln!("{DIM}{} at {}{DIM:#}", endpoint.model, endpoint.base_url);
        }
        let messages = opened.pod.history().len();
        if messages > 0 {
            eprintln!("{DIM}resumed {} with {messages} messages{DIM:#}", opened.folder.display());
            self.tasks(opened.pod.tasks());
        }
    }

    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::RequestStarted { number } => self.wait(format!("thinking (request {number})")),
            Event::TextDelta(text) => self.answer(text),
            Event::RequestFinished { .. } => self.end_line(),
            Event::ReminderDecided(decision) => {
                self.show_changed();
                if let Decision::Remind { .. } = decision {
                    self.note(format_args!("{WARN}⏰ {decision}: open tasks were not touched for a while{WARN:#}"));
                }
            }
            Event::Retrying { wait, error } => {
                self.note(format_args!("{WARN}{}{WARN:#}{DIM}; trying again in {wait:.1?}{DIM:#}", visible(error)));
            }
            Event::DialectChanged(_) => {
                self.note(format_args!("{DIM}the server refused the form of the request; it gets another one{DIM:#}"));
            }
            Event::ToolStarted { name, arguments, .. } => {
                self.note(format_args!("{DIM}• {name} {}{DIM:#}", one_line(arguments, 100)));
                self.wait(format!("running {}", visible(name)));
            }
            Event::ToolFinished { name, ok: false, result, .. } => {
                self.note(format_args!("{FAIL}  {name}: {}{FAIL:#}", one_line(result, 160)));
            }
            _ => {}
        }
    }

    /// Shows the task list before the next request: the calls of one answer often change several tasks.
    pub(crate) fn tasks_changed(&self, tasks: &TaskStore) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).changed = Some(tasks.clone());
    }

    fn show_changed(&self) {
        let changed = self.stop_waiting().changed.take();
        if let Some(tasks) = changed {
            self.tasks(&tasks);
        }
    }

    /// The task list with marks.
    pub(crate) fn tasks(&self, tasks: &TaskStore) {
        let all = tasks.list();
        let listed: Vec<_> = all.iter().filter(|task| task.status != TaskStatus::Deleted).collect();
        // the tail is where the work is
        let skipped = listed.len().saturating_sub(TASKS_SHOWN);
        drop(self.stop_waiting());
        if skipped > 0 {
            eprintln!("    {DIM}… {skipped} more above{DIM:#}");
        }
        for task in &listed[skipped..] {
            let (mark, style) = match task.status {
                TaskStatus::Completed => ("✔", GOOD),
                TaskStatus::InProgress => ("▶", WARN),
                TaskStatus::Pending | TaskStatus::Deleted => ("○", DIM),
            };
            eprintln!("    {style}{mark}{style:#} {:>2} {}", task.taskid, one_line(&task.subject, 100));
        }
    }

    pub(crate) fn turn_finished(&self, turn: &Turn) {
        self.end_line();
        self.show_changed();
        let plural = if turn.requests == 1 { "" } else { "s" };
        eprintln!("{DIM}— {} request{plural}{DIM:#}", turn.requests);
    }

    pub(crate) fn turn_failed(&self, error: &TurnError) {
        self.end_line();
        self.show_changed();
        eprintln!("{FAIL}error:{FAIL:#} {}", visible(&error.to_string()));
        if let Some(hint) = hint(error) {
            eprintln!("{DIM}hint: {hint}{DIM:#}");
        }
    }

    pub(crate) fn turn_cancelled(&self) {
        self.end_line();
        self.show_changed();
        eprintln!("{WARN}cancelled{WARN:#}{DIM}; the next prompt goes on from here{DIM:#}");
    }

    pub(crate) fn closed(&self, opened: &Opened) {
        drop(self.stop_waiting());
        eprintln!("{DIM}session: {} (resume with --session){DIM:#}", opened.folder.display());
    }

    pub(crate) fn note(&self, line: std::fmt::Arguments<'_>) {
        self.end_line();
        eprintln!("{line}");
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
        if !self.notes_to_terminal || std::env::var_os("NO_COLOR").is_some() || dumb() {
            return;
        }
        let mut state = self.stop_waiting();
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        spinner.set_style(ProgressStyle::default_spinner());
        spinner.set_message(what);
        spinner.enable_steady_tick(Duration::from_millis(100));
        state.spinner = Some(spinner);
    }

    fn stop_waiting(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spinner) = state.spinner.take() {
            spinner.finish_and_clear();
        }
        state
    }
}

fn dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// What a person can change about it here.
fn hint(error: &TurnError) -> Option<&'static str> {
    use insomnia_tasks::wire::{ErrorDetail, ModelErrorKind};
    let error = error.model()?;
    match (error.kind(), error.detail()) {
        (_, Some(ErrorDetail::Placement(_))) => {
            Some("try --reminder merge, the form that no server is known to refuse")
        }
        (ModelErrorKind::ModelNotFound, _) => Some("name another model with --model"),
        (ModelErrorKind::Auth, _) => Some("give the key with --api-key or in OPENAI_API_KEY"),
        (ModelErrorKind::Connect, _) => Some("is the server running, and is --base-url right?"),
        _ => None,
    }
}

/// Text without the control characters that could steer a terminal.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// At most so many characters, on one line.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line: String = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(limit) {
        line.truncate(cut);
        line.push('…');
    }
    line
}
