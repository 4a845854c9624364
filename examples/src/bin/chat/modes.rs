//! The modes of the terminal that is typed at: changed for a while, and as they were before at every end.

#[cfg(unix)]
use std::time::Duration;

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

/// Leaves the terminal to the shell, until `fg`. Its modes must be those of before: the line editor would change them again before
/// the signal gets to the program, which has more than one thread.
#[cfg(unix)]
pub(crate) async fn stop() {
    use nix::sys::signal::{Signal, kill};
    use tokio::{
        signal::unix::{SignalKind, signal},
        time::timeout,
    };
    let Ok(mut continued) = signal(SignalKind::from_raw(nix::libc::SIGCONT)) else { return };
    // whoever has started the program in the same job is to stop too
    if kill(nix::unistd::Pid::from_raw(0), Signal::SIGTSTP).is_ok() {
        // without a shell that could go on with it, the system stops nothing
        let _ = timeout(Duration::from_millis(500), continued.recv()).await;
    }
}

#[cfg(not(unix))]
pub(crate) async fn stop() {}

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
