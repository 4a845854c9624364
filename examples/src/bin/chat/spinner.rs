use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::is_plain;

/// A sign on stderr that something is under way; none where nobody watches or nothing may move.
pub(crate) struct Spinner {
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Spinner {
    pub(crate) fn new() -> Self {
        Self { wanted: stderr().is_terminal() && !is_plain(), bar: None }
    }

    /// Shows what is waited for, and since when. The text must be safe to print.
    pub(crate) fn start(&mut self, what: String) {
        self.stop();
        if !self.wanted {
            return;
        }
        let style = ProgressStyle::with_template("{spinner:.dim} {msg:.dim} {elapsed:.dim}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            .with_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        self.bar = Some(bar);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
