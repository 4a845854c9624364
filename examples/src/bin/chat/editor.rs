use std::{
    borrow::Cow,
    fs::DirBuilder,
    io::{self, BufRead, Write, stderr, stdin},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
    completion::Completer,
    error::ReadlineError,
    highlight::{CmdKind, Highlighter},
    hint::Hinter,
    history::FileHistory,
    validate::Validator,
};

use crate::{
    commands::completions,
    terminal::{is_dumb, steers, visible},
};

pub(crate) const PROMPT: &str = "> ";
/// Before the lines that follow the first one, where there is no line editing.
const GOES_ON: &str = "  ";
/// What Ctrl-O stands for.
const OPEN: &str = "/last";
/// What Ctrl-Z stands for; it cannot be typed.
pub(crate) const STOP: &str = "\u{1a}";

/// Reads what a person types. The history is kept between sessions where there is a folder for it.
pub(crate) enum Editor {
    /// With line editing.
    Full(Box<Full>),
    /// On a terminal that cannot do that. Whether the lines so far are to be passed over.
    Dumb(Arc<AtomicBool>),
}

pub(crate) struct Full {
    editor: rustyline::Editor<Commands, FileHistory>,
    history: Option<PathBuf>,
    breaks: Breaks,
    /// What had been typed when a key came that leaves the line for a while.
    kept: Kept,
    /// Whether Ctrl-C came with something typed.
    dropped: Arc<AtomicBool>,
}

/// What stood before each Enter that began a new line.
type Breaks = Arc<Mutex<Vec<String>>>;

/// With what the key stands for.
type Kept = Arc<Mutex<Option<(String, &'static str)>>>;

impl Editor {
    pub(crate) fn new() -> Result<Self, ReadlineError> {
        if is_dumb() {
            return Ok(Self::Dumb(Arc::default()));
        }
        // the terminal itself, not stdout: that may be a file for the answers
        let config = Config::builder().behavior(Behavior::PreferTerm).completion_type(CompletionType::List);
        // there are no colours, but it shows no line as `Highlighter` has it without
        let mut editor = rustyline::Editor::with_config(config.color_mode(ColorMode::Forced).build())?;
        editor.set_helper(Some(Commands));
        let (kept, breaks, dropped) = (Kept::default(), Breaks::default(), Arc::<AtomicBool>::default());
        for enter in [KeyEvent(KeyCode::Enter, Modifiers::NONE), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
            editor.bind_sequence(enter, EventHandler::Conditional(Box::new(GoOn(Arc::clone(&breaks)))));
        }
        for enter in [KeyEvent::alt('\r'), KeyEvent::alt('\n')] {
            editor.bind_sequence(enter, EventHandler::Simple(Cmd::Newline));
        }
        let mut leave = |key, command| {
            let handler = Leave { kept: Arc::clone(&kept), command };
            editor.bind_sequence(KeyEvent::ctrl(key), EventHandler::Conditional(Box::new(handler)));
        };
        leave('O', OPEN);
        if cfg!(unix) {
            leave('Z', STOP);
        }
        editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(Abandon(Arc::clone(&dropped)))));
        let history = dirs::data_dir().map(|data| data.join("insomnia-tasks").join("chat-history.txt"));
        if let Some(path) = &history {
            // absent at first
            let _ = editor.load_history(path);
        }
        Ok(Self::Full(Box::new(Full { editor, history, breaks, kept, dropped })))
    }

    /// Without line editing, what has the lines so far passed over once it is set.
    pub(crate) fn dumb(&self) -> Option<Arc<AtomicBool>> {
        match self {
            Self::Full(_) => None,
            Self::Dumb(dropped) => Some(Arc::clone(dropped)),
        }
    }

    /// What is typed next, one line or several. Blocks.
    pub(crate) fn read(&mut self) -> Result<String, ReadlineError> {
        match self {
            Self::Full(full) => full.read(),
            Self::Dumb(dropped) => read_plainly(dropped),
        }
    }
}

impl Full {
    fn read(&mut self) -> Result<String, ReadlineError> {
        let (before, _) = self.kept().take().unwrap_or_default();
        self.breaks().clear();
        let read = self.editor.readline_with_initial(PROMPT, (&before, ""));
        let left = self.kept().as_ref().map(|(_, command)| *command);
        let typed = match (read, left) {
            // it was not Ctrl-C
            (Err(ReadlineError::Interrupted), Some(command)) => return Ok(command.to_owned()),
            // it was meant for the line alone
            (Err(ReadlineError::Interrupted), None) if self.dropped.swap(false, Ordering::Relaxed) => {
                return Ok(String::new());
            }
            (typed, _) => typed?,
        };
        let typed = text(&joined(typed, std::mem::take(&mut *self.breaks())));
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

    fn kept(&self) -> MutexGuard<'_, Option<(String, &'static str)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_plainly(dropped: &AtomicBool) -> Result<String, ReadlineError> {
    let mut typed = String::new();
    dropped.store(false, Ordering::Relaxed);
    loop {
        let prompt = if typed.is_empty() { PROMPT } else { GOES_ON };
        let _ = write!(stderr(), "{prompt}").and_then(|()| stderr().flush());
        let mut line = Vec::new();
        let read = stdin().lock().read_until(b'\n', &mut line)?;
        if dropped.swap(false, Ordering::Relaxed) {
            typed.clear();
        }
        if read == 0 {
            return if typed.is_empty() { Err(ReadlineError::Eof) } else { Ok(typed) };
        }
        let line = text(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']));
        match line.strip_suffix('\\') {
            Some(line) => typed.extend([line, "\n"]),
            None => return Ok(typed + &line),
        }
    }
}

/// Without control characters, which nobody sees and which come with what is pasted.
fn text(typed: &str) -> String {
    typed.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
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

/// What is typed or pasted steers the terminal no more than what is answered.
impl Highlighter for Commands {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if line.contains(steers) { Cow::Owned(visible(line)) } else { Cow::Borrowed(line) }
    }

    fn highlight_char(&self, line: &str, _: usize, _: CmdKind) -> bool {
        line.contains(|c| c != '\n' && steers(c))
    }
}

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

/// Leaves the line for a while, to go on with it after that.
struct Leave {
    kept: Kept,
    command: &'static str,
}

impl ConditionalEventHandler for Leave {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let kept = (context.line().to_owned(), self.command);
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Some(Cmd::Interrupt)
    }
}

/// Gives the line up, and with it what was typed; on an empty one it is Ctrl-C.
struct Abandon(Arc<AtomicBool>);

impl ConditionalEventHandler for Abandon {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        self.0.store(!context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::{joined, text};

    #[test]
    fn controls_are_not_typed() {
        assert_eq!(text("a\u{1b}[2J\tb\n\u{9b}c\u{7f}é漢👩‍👩‍👧"), "a[2J\tb\ncé漢👩‍👩‍👧");
    }

    #[test]
    fn a_backslash_goes_where_it_began_a_line() {
        let breaks = |breaks: &[&str]| breaks.iter().map(|before| (*before).to_owned()).collect();
        assert_eq!(joined("a\\\nb\\\nc".to_owned(), breaks(&["a\\", "a\\\nb\\"])), "a\nb\nc");
        assert_eq!(joined("pasted\\\nlines".to_owned(), breaks(&[])), "pasted\\\nlines");
        assert_eq!(joined("other".to_owned(), breaks(&["a\\"])), "other");
    }
}
