use std::{
    fs::DirBuilder,
    io::{self, Write, stderr, stdin},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustyline::{
    Behavior, Cmd, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext, EventHandler, Helper,
    KeyCode, KeyEvent, Modifiers, Movement, RepeatCount, completion::Completer, error::ReadlineError,
    highlight::Highlighter, hint::Hinter, history::FileHistory, validate::Validator,
};

use crate::{commands::completions, terminal::is_dumb};

const PROMPT: &str = "> ";
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
    /// What had been typed when Ctrl-O came.
    kept: Kept,
}

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
        let kept = Kept::default();
        for enter in [KeyEvent(KeyCode::Enter, Modifiers::NONE), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
            editor.bind_sequence(enter, EventHandler::Conditional(Box::new(GoOn)));
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
        Ok(Self::Full(Box::new(Full { editor, history, kept })))
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
        let typed = match self.editor.readline_with_initial(PROMPT, (&before, "")) {
            // it was not Ctrl-C
            Err(ReadlineError::Interrupted) if self.kept().is_some() => return Ok(OPEN.to_owned()),
            typed => typed?,
        };
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

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<String>> {
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

/// Enter behind a backslash is a new line.
struct GoOn;

impl ConditionalEventHandler for GoOn {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let goes_on = context.line().ends_with('\\') && context.pos() == context.line().len();
        goes_on.then(|| Cmd::Replace(Movement::BackwardChar(1), Some("\n".to_owned())))
    }
}

/// Leaves the line for a look at the last call, to go on with it after that.
struct Open(Kept);

impl ConditionalEventHandler for Open {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.line().to_owned());
        Some(Cmd::Interrupt)
    }
}
