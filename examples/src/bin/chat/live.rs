//! The display on a terminal: answers as Markdown while they come, and below them the tasks and one line that says what is under
//! way, both drawn anew in place. What is done stays in the scrollback.

use std::{
    io::{IsTerminal, Write, stderr, stdout},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anstream::{AutoStream, ColorChoice, adapter::strip_str};
use console::Term;
use insomnia_tasks::task::{TaskStatus, TaskStore};

use crate::{
    markdown::{Answer, Look},
    modes::Unechoed,
    region::{Region, Size, fit},
    status::Status,
    task_list::task_list,
    terminal::{one_line, write_text},
};

/// How often what is under way is drawn.
const TICK: Duration = Duration::from_millis(100);

/// Pieces of an answer that come faster than this are drawn together.
const PAUSE: Duration = Duration::from_millis(30);

/// Below this width tasks are not set off.
const NARROW: usize = 24;

/// How many lines tasks may take before they are folded.
const TASKS_SHOWN: usize = 10;

pub(crate) struct Live {
    tasks: TaskStore,
    // a std mutex: held while something is drawn, never across an await
    state: Arc<Mutex<State>>,
    ticker: Mutex<Option<Ticker>>,
    /// Answers go to a file, as they are.
    answers_elsewhere: bool,
}

struct State {
    region: Region<Box<dyn Write + Send>>,
    terminal: Term,
    colour: bool,
    tasks: TaskStore,
    answer: Answer,
    /// Whether the last line of an answer that goes to a file is still open.
    line_open: bool,
    /// While a turn runs.
    status: Option<Status>,
    /// Whether the tasks have changed in this turn.
    changed: bool,
    drawn: Instant,
    /// How long the last drawing took.
    took: Duration,
    /// While a turn runs.
    unechoed: Option<Unechoed>,
}

impl Live {
    pub(crate) fn new(tasks: &TaskStore) -> Self {
        let answers_elsewhere = !stdout().is_terminal();
        let (out, terminal, choice): (Box<dyn Write + Send>, _, _) = if answers_elsewhere {
            (Box::new(stderr()), Term::stderr(), AutoStream::choice(&stderr()))
        } else {
            (Box::new(stdout()), Term::stdout(), AutoStream::choice(&stdout()))
        };
        let state = State {
            region: Region::new(out),
            terminal,
            colour: choice != ColorChoice::Never,
            tasks: tasks.clone(),
            answer: Answer::default(),
            line_open: false,
            status: None,
            changed: false,
            drawn: Instant::now(),
            took: Duration::ZERO,
            unechoed: None,
        };
        let state = Arc::new(Mutex::new(state));
        #[cfg(unix)]
        draw_when_continued(&state);
        Self { tasks: tasks.clone(), state, ticker: Mutex::new(None), answers_elsewhere }
    }

    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        (state.status, state.changed) = (Some(Status::new()), false);
        state.unechoed = Some(Unechoed::new());
        state.draw("");
        *self.ticker.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ticker::start(&self.state));
    }

    /// Takes away what was drawn in place; what has become of the tasks stays.
    pub(crate) fn end(&self) {
        // not under the state's lock: the ticker takes it
        drop(self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut state = self.lock();
        state.settle();
        state.status = None;
        let rows = if state.changed { task_list(&self.tasks, TASKS_SHOWN) } else { Vec::new() };
        state.changed = false;
        let size = state.size();
        let rows: String = set_off(rows, size).iter().map(|row| fit(row, size) + "\n").collect();
        state.draw(&rows);
        state.unechoed = None;
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Status)) {
        let mut state = self.lock();
        if let Some(status) = &mut state.status {
            change(status);
        }
        state.draw("");
    }

    pub(crate) fn tasks_changed(&self) {
        let mut state = self.lock();
        state.changed = true;
        state.draw("");
    }

    /// All tasks up to the limit, because somebody asked.
    pub(crate) fn tasks(&self, limit: Option<usize>) {
        let size = self.lock().size();
        for row in set_off(task_list(&self.tasks, limit.unwrap_or(TASKS_SHOWN)), size) {
            self.short_line(&row);
        }
    }

    /// A line that stays, however long.
    pub(crate) fn line(&self, line: &str) {
        let mut state = self.lock();
        state.settle();
        state.draw(&format!("{line}\n"));
    }

    /// A line that stays, cut where the terminal ends.
    pub(crate) fn short_line(&self, line: &str) {
        let line = fit(line, self.lock().size());
        self.line(&line);
    }

    pub(crate) fn answer(&self, text: &str) {
        let mut state = self.lock();
        if let Some(status) = &mut state.status {
            status.came(text);
        }
        if self.answers_elsewhere {
            write_text(text);
            if !text.is_empty() {
                state.line_open = !text.ends_with('\n');
            }
            return;
        }
        state.answer.push(text);
        // a block of great length takes its time
        if state.drawn.elapsed() >= PAUSE.max(3 * state.took) {
            state.draw("");
        }
    }

    /// The answer is complete.
    pub(crate) fn end_answer(&self) {
        self.lock().settle();
    }

    /// What has come of the answer does not count.
    pub(crate) fn void_answer(&self) {
        self.lock().answer = Answer::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn size(&self) -> Size {
        let (rows, columns) = self.terminal.size();
        // a terminal that does not know says 0
        let or = |value: u16, usual| if value == 0 { usual } else { usize::from(value) };
        Size { columns: or(columns, 80), rows: or(rows, 24) }
    }

    fn look(&self, size: Size) -> Look {
        Look { width: size.columns.saturating_sub(1).max(1), colour: self.colour }
    }

    /// Writes what is left of the answer.
    fn settle(&mut self) {
        if std::mem::take(&mut self.line_open) {
            write_text("\n");
        }
        if !self.answer.is_empty() {
            let look = self.look(self.size());
            let rows = self.answer.finish(look);
            let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
            self.draw(&rows);
        }
    }

    /// Draws everything anew; the lines go above it and stay.
    fn draw(&mut self, lines: &str) {
        let begun = Instant::now();
        let size = self.size();
        let below = self.below(size);
        let room = size.rows.saturating_sub(below.len() + 2).max(1);
        let rows = self.answer.rows(self.look(size), room);
        let mut above: String = rows.done.iter().map(|row| format!("{row}\n")).collect();
        above.push_str(lines);
        let mut rows = rows.growing;
        rows.extend(below);
        if !self.colour {
            above = strip_str(&above).to_string();
            rows = rows.iter().map(|row| strip_str(row).to_string()).collect();
        }
        // a terminal that has gone away ends nothing
        let _ = self.region.draw(&above, &rows, size);
        self.took = begun.elapsed();
        self.drawn = Instant::now();
    }

    /// Goes on in a terminal that a shell has used meanwhile.
    #[cfg(unix)]
    fn continued(&mut self) {
        if let Some(unechoed) = &self.unechoed {
            unechoed.again();
        }
        self.region.forget();
        self.draw("");
    }

    fn below(&self, size: Size) -> Vec<String> {
        let Some(status) = &self.status else { return Vec::new() };
        let mut rows = Vec::new();
        if self.changed || self.tasks.has_active() {
            let limit = TASKS_SHOWN.min(size.rows.saturating_sub(4) / 2);
            rows = if limit == 0 { Vec::new() } else { set_off(task_list(&self.tasks, limit), size) };
        }
        let working = self.tasks.active(1).into_iter().find(|task| task.status == TaskStatus::InProgress);
        let working = working.map(|task| one_line(&task.subject, 100));
        rows.push(status.line(working.as_deref(), size.columns.saturating_sub(1)));
        rows
    }
}

/// Where every column counts, rows begin with their marks.
fn set_off(rows: Vec<String>, size: Size) -> Vec<String> {
    if size.columns >= NARROW {
        return rows;
    }
    rows.iter().map(|row| row.trim_start().to_owned()).collect()
}

/// Ctrl-Z leaves the terminal to the shell, until `fg`.
#[cfg(unix)]
fn draw_when_continued(state: &Arc<Mutex<State>>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut continued) = signal(SignalKind::from_raw(nix::libc::SIGCONT)) else { return };
    let state = Arc::downgrade(state);
    tokio::spawn(async move {
        while continued.recv().await.is_some() {
            let Some(state) = state.upgrade() else { return };
            lock(&state).continued();
        }
    });
}

/// Draws from time to time until it is dropped.
struct Ticker {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(state: &Arc<Mutex<State>>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let state = Arc::clone(state);
        let thread = thread::spawn(move || {
            let mut last = Instant::now();
            while stopped.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                // after a stop the drawing begins anew, which is not the ticker's
                if last.elapsed() < 5 * TICK {
                    lock(&state).draw("");
                }
                last = Instant::now();
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // it ends at once; had it panicked, only the drawing would be missing
            let _ = thread.join();
        }
    }
}
