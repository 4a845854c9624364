use std::process::ExitCode;

use crate::terminal::{note, visible};

/// Why the program ends without success, and the exit code that says so.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A turn failed; code 1.
    Turn(String),
    /// Wrong usage; code 2.
    Usage(String),
    /// The session cannot be opened; code 3.
    Session(String),
    /// A turn failed and its message has been shown; code 1.
    Shown,
    /// The program was told to end; the code says by which signal.
    Told(u8),
}

impl Failure {
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Turn(message) | Self::Usage(message) | Self::Session(message) => message,
            Self::Shown | Self::Told(_) => "",
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Turn(message) => (Some(message), 1),
            Self::Usage(message) => (Some(message), 2),
            Self::Session(message) => (Some(message), 3),
            Self::Shown => (None, 1),
            Self::Told(code) => (None, code),
        };
        if let Some(message) = message {
            note!("error: {}", visible(&message));
        }
        ExitCode::from(code)
    }
}
