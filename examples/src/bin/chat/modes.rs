//! The modes of the terminal that is typed at: changed for a while, and as they were before at every end.

#[cfg(unix)]
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

/// The terminal does not show what is typed as long as this lives: it waits for the next prompt, and shown at once it would stand
/// in what is drawn in place.
pub(crate) struct Unechoed {
    #[cfg(unix)]
    before: Option<Termios>,
}

#[cfg(unix)]
impl Unechoed {
    pub(crate) fn new() -> Self {
        // stdin may be no terminal; then nothing is echoed
        let unechoed = Self { before: tcgetattr(std::io::stdin()).ok() };
        unechoed.again();
        unechoed
    }

    /// A shell that the program was stopped in has modes of its own.
    pub(crate) fn again(&self) {
        if let Some(before) = &self.before {
            let mut quiet = before.clone();
            // with IEXTEN, Ctrl-O throws the output away on some systems
            quiet.local_flags.remove(LocalFlags::ECHO | LocalFlags::IEXTEN);
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &quiet);
        }
    }
}

#[cfg(unix)]
impl Drop for Unechoed {
    fn drop(&mut self) {
        set(self.before.as_ref());
    }
}

/// The modes before a line editor changed them. They come back when this is dropped, unless the editor has done it.
pub(crate) struct Kept {
    #[cfg(unix)]
    before: Option<Termios>,
}

#[cfg(unix)]
impl Kept {
    pub(crate) fn new() -> Self {
        Self { before: tcgetattr(std::io::stdin()).ok() }
    }

    /// The editor is through with the line.
    pub(crate) fn release(mut self) {
        self.before = None;
    }
}

#[cfg(unix)]
impl Drop for Kept {
    fn drop(&mut self) {
        set(self.before.as_ref());
    }
}

#[cfg(unix)]
fn set(modes: Option<&Termios>) {
    if let Some(modes) = modes {
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, modes);
    }
}

#[cfg(not(unix))]
impl Unechoed {
    pub(crate) fn new() -> Self {
        Self {}
    }
}

#[cfg(not(unix))]
impl Kept {
    pub(crate) fn new() -> Self {
        Self {}
    }

    pub(crate) fn release(self) {}
}
