use std::io;

use futures_util::FutureExt;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC, ctrl_c};

/// Ctrl-C, from when this is made on: one that comes between two turns is not lost.
#[cfg(unix)]
pub(crate) struct Interrupts(Signal);
/// Ctrl-C, from when this is made on: one that comes between two turns is not lost.
#[cfg(windows)]
pub(crate) struct Interrupts(CtrlC);

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        return signal(SignalKind::interrupt()).map(Self);
        #[cfg(windows)]
        return ctrl_c().map(Self);
    }

    /// Returns at the next Ctrl-C, at once if there was one already.
    pub(crate) async fn next(&mut self) {
        // none comes any more only while the runtime shuts down
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets those that came so far; whether there were any.
    pub(crate) fn forget(&mut self) -> bool {
        let mut any = false;
        while self.0.recv().now_or_never().flatten().is_some() {
            any = true;
        }
        any
    }
}
