//! What is typed while a turn runs waits for the next prompt; shown at once, it would stand in what is drawn in place.

/// The terminal does not show what is typed as long as this lives.
pub(crate) struct Unechoed {
    #[cfg(unix)]
    before: Option<nix::sys::termios::Termios>,
}

#[cfg(unix)]
impl Unechoed {
    pub(crate) fn new() -> Self {
        use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
        // stdin may be no terminal; then nothing is echoed
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_flags.remove(LocalFlags::ECHO);
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &quiet);
        }
        Self { before }
    }
}

#[cfg(unix)]
impl Drop for Unechoed {
    fn drop(&mut self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

#[cfg(not(unix))]
impl Unechoed {
    pub(crate) fn new() -> Self {
        Self {}
    }
}
