use std::{
    io::{IsTerminal, Write, stdout},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use insomnia_tasks::{
    Cost,
    task::{TaskSnapshot, TaskStore},
    worker::{Event, Turn, TurnError},
};
use tokio::task::AbortHandle;

use crate::{
    answer::Answer,
    endpoint::Endpoint,
    live::Live,
    plan,
    said,
    session::Opened,
    status::Status,
    terminal::{note, visible},
};

/// How often the lines at the bottom are drawn at least, and at most.
const SLOW: Duration = Duration::from_millis(100);
const FAST: Duration = Duration::from_millis(30);

/// The form for a person at a terminal: what was said stays, and below it stand the rest of the answer that is coming in, the
/// tasks and a line about the turn, which are drawn anew in place.
pub(crate) struct Rich {
    tasks: TaskStore,
    // a std mutex: held while something is printed, never across an await
    state: Arc<Mutex<State>>,
    /// Draws while nothing else happens.
    clock: Mutex<Option<AbortHandle>>,
}

struct State {
    live: Live,
    tasks: TaskStore,
    /// None if stdout is no terminal: then answers go there as they are.
    answer: Option<Answer>,
    /// Whether the last line on stdout has no end yet.
    line_open: bool,
    /// None between turns.
    status: Option<Status>,
    /// The tasks as they were shown last in what stays.
    shown: TaskSnapshot,
    drawn: Option<Instant>,
}

impl Rich {
    pub(crate) fn new(tasks: &TaskStore) -> Self {
        let state = State {
            live: Live::new(),
            tasks: tasks.clone(),
            answer: stdout().is_terminal().then(Answer::default),
            line_open: false,
            status: None,
            shown: tasks.snapshot(),
            drawn: None,
        };
        Self { tasks: tasks.clone(), state: Arc::new(Mutex::new(state)), clock: Mutex::new(None) }
    }

    pub(crate) fn opened(&self, opened: &Opened, endpoint: &Endpoint) {
        said::opened(opened, endpoint);
        if !opened.pod.history().is_empty() {
            self.tasks();
        }
    }

    /// `typed` if the prompt stands on the terminal already.
    pub(crate) fn turn_started(&self, prompt: &str, typed: bool) {
        if !typed {
            said::prompt(prompt);
        }
        let mut state = self.state();
        state.status = Some(Status::new());
        state.draw();
        drop(state);
        let state = Arc::downgrade(&self.state);
        let clock = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(SLOW);
            loop {
                ticks.tick().await;
                let Some(state) = state.upgrade() else { return };
                lock(&state).draw();
            }
        });
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some(clock.abort_handle());
    }

    pub(crate) fn event(&self, event: &Event) {
        let mut state = self.state();
        if let Some(status) = &mut state.status {
            status.event(event);
        }
        match event {
            Event::TextDelta(text) => state.answer(text),
            Event::RequestFinished { .. } => state.end_answer(),
            event => match said::event(event, &self.tasks) {
                Some(line) => state.note(&line),
                None => state.draw(),
            },
        }
    }

    pub(crate) fn tasks_changed(&self) {
        self.state().draw();
    }

    /// The task list, because somebody asked for it.
    pub(crate) fn tasks(&self) {
        let mut state = self.state();
        state.live.erase();
        state.show_tasks();
    }

    pub(crate) fn turn_finished(&self, turn: &Turn) {
        self.end(&said::turn_finished(turn, &self.tasks));
    }

    pub(crate) fn turn_failed(&self, error: &TurnError) {
        self.end(&said::turn_failed(error));
    }

    pub(crate) fn turn_cancelled(&self) {
        self.end(&said::turn_cancelled());
    }

    pub(crate) fn closed(&self, cost: &Cost, resume: &str) {
        self.state().live.erase();
        said::closed(cost, resume);
    }

    /// What stays of a turn: its answer, the tasks if they have changed, and how it ended.
    fn end(&self, how: &str) {
        if let Some(clock) = self.clock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            clock.abort();
        }
        let mut state = self.state();
        state.end_answer();
        state.status = None;
        state.live.erase();
        if state.shown != state.tasks.snapshot() {
            state.show_tasks();
        }
        note!("{how}");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn answer(&mut self, text: &str) {
        let (columns, _) = self.live.size();
        match &mut self.answer {
            Some(answer) => {
                answer.push(&visible(text));
                let finished = answer.finished(columns);
                if !finished.is_empty() {
                    self.live.erase();
                    print(&finished);
                    self.draw();
                } else if self.drawn.is_none_or(|drawn| drawn.elapsed() >= FAST) {
                    self.draw();
                }
            }
            None => {
                self.print_raw(text);
                self.line_open = !text.ends_with('\n') && (self.line_open || !text.is_empty());
            }
        }
    }

    fn end_answer(&mut self) {
        let (columns, _) = self.live.size();
        if let Some(answer) = &mut self.answer {
            let rest = answer.end(columns);
            if !rest.is_empty() {
                self.live.erase();
                print(&rest);
            }
        } else if std::mem::take(&mut self.line_open) {
            self.print_raw("\n");
        }
        self.draw();
    }

    fn print_raw(&self, text: &str) {
        let mut out = stdout().lock();
        // a reader that has gone away ends nothing: the session goes on to be stored
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn note(&mut self, line: &str) {
        self.live.erase();
        note!("{line}");
        self.draw();
    }

    fn show_tasks(&mut self) {
        for line in plan::lines(&self.tasks, usize::MAX) {
            note!("{line}");
        }
        self.shown = self.tasks.snapshot();
    }

    fn draw(&mut self) {
        let Some(status) = &self.status else { return };
        let (columns, rows) = self.live.size();
        let plan = plan::lines(&self.tasks, rows.saturating_sub(6));
        let room = rows.saturating_sub(plan.len() + 2).max(1);
        let mut lines = self.answer.as_mut().map(|answer| answer.open(columns, room)).unwrap_or_default();
        lines.extend(plan);
        lines.push(status.line(&self.tasks, columns));
        self.live.draw(&lines);
        self.drawn = Some(Instant::now());
    }
}

fn print(lines: &[String]) {
    let mut out = anstream::stdout().lock();
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    let _ = out.flush();
}
