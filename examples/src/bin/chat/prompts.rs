use std::{
    collections::VecDeque,
    io::{self, BufRead, stdin},
    thread,
};

use tokio::sync::mpsc;

use crate::interrupt::Interrupts;

/// Where prompts come from when nobody types.
pub(crate) enum Prompts {
    /// From the flags.
    Given(VecDeque<String>),
    /// From a pipe, one per line; a line without text is none. The other prompt is run where the pipe holds none.
    Piped(mpsc::Receiver<io::Result<String>>, Option<String>),
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
            loop {
                line.clear();
                let prompt = match stdin().lock().read_until(b'\n', &mut line) {
                    Ok(0) => return,
                    Ok(_) => Ok(prompt(&line)),
                    Err(error) => Err(error),
                };
                let last = prompt.is_err();
                let empty = prompt.as_ref().is_ok_and(String::is_empty);
                if !empty && sender.blocking_send(prompt).is_err() || last {
                    return;
                }
            }
        });
        Self::Piped(receiver, fallback)
    }

    /// The next prompt; none at the end or on Ctrl-C.
    pub(crate) async fn next(&mut self, interrupts: &mut Interrupts) -> io::Result<Option<String>> {
        match self {
            Self::Given(prompts) => Ok(prompts.pop_front()),
            Self::Piped(lines, fallback) => {
                let line = tokio::select! {
                    biased;
                    () = interrupts.next() => return Ok(None),
                    line = lines.recv() => line.transpose()?,
                };
                let other = fallback.take();
                Ok(line.or(other))
            }
        }
    }

    /// How many are known to be left.
    pub(crate) fn left(&self) -> usize {
        match self {
            Self::Given(prompts) => prompts.len(),
            Self::Piped(..) => 0,
        }
    }
}

/// A line's text; some shells begin a pipe with a byte order mark.
fn prompt(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_start_matches('\u{feff}').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::prompt;

    #[test]
    fn a_line_is_text_without_its_end() {
        assert_eq!(prompt(b"\xef\xbb\xbf say hi \r\n"), "say hi");
        assert_eq!(prompt(b"\xff ok"), "\u{fffd} ok");
        assert_eq!(prompt(b" \t\r\n"), "");
    }
}
