use std::{
    fs::DirBuilder,
    io::{self, Write, stderr, stdin},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustyline::{
    Behavior, Cmd, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext, EventHandler, Helper,
    KeyCode, KeyEvent, Modifiers, RepeatCount, completion::Completer, error::ReadlineError, highlight::Highlighter,
    hint::Hinter, history::FileHistory, validate::Validator,
};

use crate::{commands::completions, terminal::is_dumb};

pub(crate) const PROMPT: &str = "> ";
/// Before the lines that follow the first one, where there is no line editing.
const GOES_ON: &str = "  ";
/// What Ctrl-O stands for.
const OPEN: &str = "/last";

/// Reads what a person types. The history is kept between sessions where there is a folder for it.
pub(crate) enum Editor {
    /// With line editing.
    Full(Box<Full>),
    /// On a terminal that cannot do that.
    Dumb,
}

pub(crate) struct Full {
    editor: rustyline::Editor<Commands, FileHistory>,
    history: Option<PathBuf>,
    breaks: Breaks,
    /// What had been typed when Ctrl-O came.
    kept: Kept,
}

/// What stood before each Enter that began a new line.
type Breaks = Arc<Mutex<Vec<String>>>;

type Kept = Arc<Mutex<Option<String>>>;

impl Editor {
    pub(crate) fn new() -> Result<Self, ReadlineError> {
        if is_dumb() {
            return Ok(Self::Dumb);
        }
        // the terminal itself, not stdout: that may be a file for the answers
        let config = Config::builder().behavior(Behavior::PreferTerm).completion_type(CompletionType::List).build();
        let mut editor = rustyline::Editor::with_config(config)?;
        editor.set_helper(Some(Commands));
        let (kept, breaks) = (Kept::default(), Breaks::default());
        for enter in [KeyEvent(KeyCode::Enter, Modifiers::NONE), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
            editor.bind_sequence(enter, EventHandler::Conditional(Box::new(GoOn(Arc::clone(&breaks)))));
        }
        for enter in [KeyEvent::alt('\r'), KeyEvent::alt('\n')] {
            editor.bind_sequence(enter, EventHandler::Simple(Cmd::Newline));
        }
        editor.bind_sequence(KeyEvent::ctrl('O'), EventHandler::Conditional(Box::new(Open(Arc::clone(&kept)))));
        let history = dirs::data_dir().map(|data| data.join("insomnia-tasks").join("chat-history.txt"));
        if let Some(path) = &history {
            // absent at first
            let _ = editor.load_history(path);
        }
        Ok(Self::Full(Box::new(Full { editor, history, breaks, kept })))
    }

    /// What is typed next, one line or several. Blocks.
    pub(crate) fn read(&mut self) -> Result<String, ReadlineError> {
        match self {
            Self::Full(full) => full.read(),
            Self::Dumb => read_plainly(),
        }
    }
}

impl Full {
    fn read(&mut self) -> Result<String, ReadlineError> {
        let before = self.kept().take().unwrap_or_default();
        self.breaks().clear();
        let typed = match self.editor.readline_with_initial(PROMPT, (&before, "")) {
            // it was not Ctrl-C
            Err(ReadlineError::Interrupted) if self.kept().is_some() => return Ok(OPEN.to_owned()),
            typed => typed?,
        };
        let typed = joined(typed, std::mem::take(&mut *self.breaks()));
        if !typed.trim().is_empty() {
            self.editor.add_history_entry(typed.trim())?;
            if let Some(path) = &self.history {
                // a convenience: without a place for it the lines live until the program ends
                let _ = path.parent().map_or(Ok(()), create_private);
                let _ = self.editor.append_history(path);
            }
        }
        Ok(typed)
    }

    fn breaks(&self) -> MutexGuard<'_, Vec<String>> {
        self.breaks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Option<String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_plainly() -> Result<String, ReadlineError> {
    let mut typed = String::new();
    loop {
        let prompt = if typed.is_empty() { PROMPT } else { GOES_ON };
        let _ = write!(stderr(), "{prompt}").and_then(|()| stderr().flush());
        if stdin().read_line(&mut typed)? == 0 {
            return if typed.is_empty() { Err(ReadlineError::Eof) } else { Ok(typed) };
        }
        let line = typed.trim_end_matches(['\r', '\n']);
        match line.strip_suffix('\\') {
            Some(line) => typed = format!("{line}\n"),
            None => return Ok(line.to_owned()),
        }
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Completes commands.
pub(crate) struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, words) = completions(line.get(..at).unwrap_or_default());
        Ok((start, words.into_iter().map(|word| format!("{word} ")).collect()))
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}

/// Enter behind a backslash is a new line. The backslash stays until the whole is read: it may have been pasted, too.
struct GoOn(Breaks);

impl ConditionalEventHandler for GoOn {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let before = &context.line()[..context.pos()];
        before.ends_with('\\').then(|| {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(before.to_owned());
            Cmd::Newline
        })
    }
}

/// Takes the backslashes away behind which a new line was begun.
fn joined(mut typed: String, breaks: Vec<String>) -> String {
    // the longest first: the others stay where they are
    for before in breaks.iter().rev() {
        if typed.strip_prefix(before.as_str()).is_some_and(|rest| rest.starts_with('\n')) {
            typed.remove(before.len() - 1);
        }
    }
    typed
}

/// Leaves the line for a look at the last call, to go on with it after that.
struct Open(Kept);

impl ConditionalEventHandler for Open {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.line().to_owned());
        Some(Cmd::Interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn a_backslash_goes_where_it_began_a_line() {
        let breaks = |breaks: &[&str]| breaks.iter().map(|before| (*before).to_owned()).collect();
        assert_eq!(joined("a\\\nb\\\nc".to_owned(), breaks(&["a\\", "a\\\nb\\"])), "a\nb\nc");
        assert_eq!(joined("pasted\\\nlines".to_owned(), breaks(&[])), "pasted\\\nlines");
        assert_eq!(joined("other".to_owned(), breaks(&["a\\"])), "other");
    }
}
