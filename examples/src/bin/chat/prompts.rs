use std::{
    collections::VecDeque,
    io::{BufRead, stdin},
    thread,
};

use tokio::sync::mpsc;

/// Where prompts come from when nobody types.
pub(crate) enum Prompts {
    /// From the flags.
    Given(VecDeque<String>),
    /// From a pipe, one per line; a line without text is none. The other prompt is run where the pipe holds none.
    Piped(mpsc::Receiver<String>, Option<String>),
}

impl Prompts {
    pub(crate) fn given(prompts: Vec<String>) -> Self {
        Self::Given(prompts.into())
    }

    pub(crate) fn piped(fallback: Option<String>) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        // a thread of its own: a pending read neither holds up Ctrl-C nor the program's end
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdin().lock().read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                let prompt = String::from_utf8_lossy(&line).trim().to_owned();
                line.clear();
                if !prompt.is_empty() && sender.blocking_send(prompt).is_err() {
                    return;
                }
            }
        });
        Self::Piped(receiver, fallback)
    }

    /// The next prompt; none at the end or on Ctrl-C.
    pub(crate) async fn next(&mut self) -> Option<String> {
        match self {
            Self::Given(prompts) => prompts.pop_front(),
            Self::Piped(lines, fallback) => {
                let line = tokio::select! {
                    line = lines.recv() => line,
                    _ = tokio::signal::ctrl_c() => return None,
                };
                let other = fallback.take();
                line.or(other)
            }
        }
    }
}
