use std::{
    fs::DirBuilder,
    io::{self, Write, stderr, stdin},
    path::{Path, PathBuf},
};

use rustyline::{Behavior, Config, DefaultEditor, error::ReadlineError};

use crate::terminal::is_dumb;

const PROMPT: &str = "> ";

/// Reads lines that a person types. The history of the lines is kept between sessions where there is a folder for it.
pub(crate) enum Editor {
    /// With line editing.
    Full(Box<DefaultEditor>, Option<PathBuf>),
    /// On a terminal that cannot do that.
    Dumb,
}

impl Editor {
    pub(crate) fn new() -> Result<Self, ReadlineError> {
        if is_dumb() {
            return Ok(Self::Dumb);
        }
        // the terminal itself, not stdout: that may be a file for the answers
        let mut editor = DefaultEditor::with_config(Config::builder().behavior(Behavior::PreferTerm).build())?;
        let history = dirs::data_dir().map(|data| data.join("insomnia-tasks").join("chat-history.txt"));
        if let Some(path) = &history {
            // absent at first
            let _ = editor.load_history(path);
        }
        Ok(Self::Full(Box::new(editor), history))
    }

    /// The next line without its end. Blocks.
    pub(crate) fn line(&mut self) -> Result<String, ReadlineError> {
        match self {
            Self::Full(editor, history) => {
                let line = editor.readline(PROMPT)?;
                if !line.trim().is_empty() {
                    editor.add_history_entry(line.trim())?;
                    if let Some(path) = history {
                        // a convenience: without a place for it the lines live until the program ends
                        let _ = path.parent().map_or(Ok(()), create_private);
                        let _ = editor.append_history(path);
                    }
                }
                Ok(line)
            }
            Self::Dumb => {
                let _ = write!(stderr(), "{PROMPT}").and_then(|()| stderr().flush());
                let mut line = String::new();
                match stdin().read_line(&mut line)? {
                    0 => Err(ReadlineError::Eof),
                    _ => Ok(line),
                }
            }
        }
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
