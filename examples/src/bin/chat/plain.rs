use std::{
    io::{IsTerminal, stdout},
    sync::{Mutex, PoisonError},
};

use insomnia_tasks::task::{TaskStatus, TaskStore};

use crate::{
    task_list::line,
    terminal::{DIM, note, visible, write_text},
};

/// How many tasks are shown before the rest is only counted.
const TASKS_SHOWN: usize = 10;

/// The display where nothing can be drawn in place: files, pipes and terminals that know no escape sequences.
pub(crate) struct Plain {
    tasks: TaskStore,
    answers_to_terminal: bool,
    // a std mutex: held while something is printed, never across an await
    /// Whether the answer's last line is still open.
    line_open: Mutex<bool>,
}

impl Plain {
    pub(crate) fn new(tasks: &TaskStore) -> Self {
        Self { tasks: tasks.clone(), answers_to_terminal: stdout().is_terminal(), line_open: Mutex::new(false) }
    }

    pub(crate) fn line(&self, line: &str) {
        self.end_answer();
        note!("{line}");
    }

    pub(crate) fn answer(&self, text: &str) {
        let mut line_open = self.line_open.lock().unwrap_or_else(PoisonError::into_inner);
        let text = if self.answers_to_terminal { visible(text) } else { text.to_owned() };
        write_text(&text);
        if !text.is_empty() {
            *line_open = !text.ends_with('\n');
        }
    }

    pub(crate) fn end_answer(&self) {
        if std::mem::take(&mut *self.line_open.lock().unwrap_or_else(PoisonError::into_inner)) {
            write_text("\n");
        }
    }

    pub(crate) fn tasks(&self, limit: Option<usize>) {
        let all = self.tasks.list();
        let listed: Vec<_> = all.iter().filter(|task| task.status != TaskStatus::Deleted).collect();
        // the tail is where the work is
        let skipped = listed.len().saturating_sub(limit.unwrap_or(TASKS_SHOWN));
        self.end_answer();
        if skipped > 0 {
            note!("    {DIM}… {skipped} more above{DIM:#}");
        }
        for task in listed.iter().skip(skipped) {
            note!("{}", line(task));
        }
    }
}
