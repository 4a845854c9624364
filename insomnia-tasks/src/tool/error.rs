use std::error::Error;

/// Why a tool did not do what it was asked, told to the model.
///
/// It is sent back as the result of the call and never ends a turn, so the message should say what to do next. Strings
/// convert into it; [`ToolError::from_error`] takes any other error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// An error that tells what `error` and its sources say. The model reads it: mind what it may give away.
    pub fn from_error(error: impl Error) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Many errors repeat their source in their own message.
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            source = error.source();
        }
        Self { message }
    }

    /// What the model is told.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self { message }
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read the file")]
    struct Outer(#[source] std::io::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("again: {0}")]
    struct Repeating(#[source] Outer);

    #[test]
    fn tells_the_sources_once() {
        let outer = || Outer(std::io::Error::other("disk is gone"));
        assert_eq!(ToolError::from_error(outer()).message(), "cannot read the file: disk is gone");
        let error = ToolError::from_error(Repeating(outer()));
        assert_eq!(error.message(), "again: cannot read the file: disk is gone");
    }
}
