//! What ends a turn or the program from outside: Ctrl-C, and the signals by which a program is told to end.

use std::{future::poll_fn, io, task::Poll};

use futures_util::FutureExt;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{CtrlC as Signal, ctrl_c};

/// Listens from when this is made on: what comes between two turns is not lost.
pub(crate) struct Interrupts {
    /// With the exit code of those that end the program.
    signals: Vec<(Option<u8>, Signal)>,
    leaving: Option<u8>,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { signals: signals()?, leaving: None })
    }

    /// Returns when the next one comes, at once if there was one already.
    pub(crate) async fn next(&mut self) {
        let code = poll_fn(|context| {
            for (code, signal) in &mut self.signals {
                // none comes any more only while the runtime shuts down
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*code);
                }
            }
            Poll::Pending
        });
        self.leaving = code.await.or(self.leaving);
    }

    /// Passes over those that came so far; whether there were any.
    pub(crate) fn forget(&mut self) -> bool {
        let mut any = false;
        while self.next().now_or_never().is_some() {
            any = true;
        }
        any
    }

    /// The exit code, once the program was told to end.
    pub(crate) fn leaving(&self) -> Option<u8> {
        self.leaving
    }
}

#[cfg(unix)]
fn signals() -> io::Result<Vec<(Option<u8>, Signal)>> {
    // as a shell tells of a program that a signal ended
    let ends = |kind: SignalKind| u8::try_from(128 + kind.as_raw_value()).ok();
    let mut kinds = vec![(ends(SignalKind::terminate()), SignalKind::terminate())];
    // without a terminal, `nohup` may have asked to pass over these
    if io::IsTerminal::is_terminal(&io::stdin()) {
        kinds.extend([SignalKind::hangup(), SignalKind::quit()].map(|kind| (ends(kind), kind)));
    }
    kinds.push((None, SignalKind::interrupt()));
    kinds.into_iter().map(|(code, kind)| Ok((code, signal(kind)?))).collect()
}

#[cfg(windows)]
fn signals() -> io::Result<Vec<(Option<u8>, Signal)>> {
    Ok(vec![(None, ctrl_c()?)])
}
