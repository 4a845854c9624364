use std::{io, path::PathBuf};

use anstream::eprintln;
use rustyline::{DefaultEditor, error::ReadlineError};

use crate::{
    failure::Failure,
    screen::Screen,
    session::Opened,
    text::one_line,
    turns::{Ended, run_turn},
};

const HELP: &str = "/tasks              the task list
/history            what was said, one line a message
/reminders on|off   whether the model is reminded of open tasks
/help               this list
/quit               leave; so does Ctrl-D
Ctrl-C cancels the turn that runs.";

/// Prompts that a person types, until `/quit`. The first one, if given, is run at once.
pub(crate) async fn run(opened: &Opened, screen: &Screen, first: Option<String>) -> Result<(), Failure> {
    let mut editor =
        Some(Editor::new().map_err(|error| Failure::Turn(format!("cannot read from the terminal: {error}")))?);
    let mut outcome = Ok(());
    if let Some(prompt) = first {
        eprintln!("> {prompt}");
        outcome = turn(opened, screen, &prompt).await.and(outcome);
    }
    eprintln!("Type a prompt, or /help.");
    loop {
        let Some(mut reading) = editor.take() else { break };
        // a blocking thread: the runtime goes on while somebody types
        let read = tokio::task::spawn_blocking(move || {
            let line = reading.line();
            (reading, line)
        });
        let Ok((back, line)) = read.await else { break };
        editor = Some(back);
        match line {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => match command(line.trim(), opened, screen) {
                Next::Prompt(prompt) => outcome = turn(opened, screen, prompt).await.and(outcome),
                Next::Done => {}
                Next::Quit => break,
            },
            Err(ReadlineError::Interrupted) => eprintln!("/quit or Ctrl-D to leave"),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(Failure::Turn(format!("cannot read from the terminal: {error}"))),
        }
    }
    outcome
}

async fn turn(opened: &Opened, screen: &Screen, prompt: &str) -> Result<(), Failure> {
    match run_turn(&opened.pod, screen, prompt).await {
        Err(Ended::Failed) => Err(Failure::Shown),
        Ok(()) | Err(Ended::Cancelled) => Ok(()),
    }
}

enum Next<'a> {
    Prompt(&'a str),
    Done,
    Quit,
}

fn command<'a>(line: &'a str, opened: &Opened, screen: &Screen) -> Next<'a> {
    let reminders = opened.pod.reminders();
    match line {
        "/quit" | "/exit" => return Next::Quit,
        "/help" => eprintln!("{HELP}"),
        "/tasks" if opened.pod.tasks().list().is_empty() => eprintln!("no tasks yet"),
        "/tasks" => screen.tasks(opened.pod.tasks()),
        "/history" => {
            for item in opened.pod.history() {
                let calls: Vec<_> = item.tool_calls().into_iter().map(|call| call.name).collect();
                let text = item.text().unwrap_or_default();
                eprintln!("{:?}: {}{}", item.kind(), one_line(&text, 100), calls.join(", "));
            }
        }
        "/reminders on" => {
            reminders.resume();
            eprintln!("reminders are on");
        }
        "/reminders off" => {
            reminders.pause();
            eprintln!("reminders are off");
        }
        "/reminders" => {
            let state = if reminders.is_paused() { "off" } else { "on" };
            let last = reminders.last_decision().map(|decision| format!("; last: {decision}"));
            eprintln!("reminders are {state}{}", last.unwrap_or_default());
        }
        line if line.starts_with('/') => eprintln!("unknown command `{}`; /help lists them", one_line(line, 40)),
        prompt => return Next::Prompt(prompt),
    }
    Next::Done
}

/// The line editor and its history, which is kept between sessions where there is a folder for it.
struct Editor {
    editor: DefaultEditor,
    history: Option<PathBuf>,
}

impl Editor {
    fn new() -> Result<Self, ReadlineError> {
        let mut editor = DefaultEditor::new()?;
        let history = dirs::data_dir().map(|data| data.join("insomnia-tasks").join("chat-history.txt"));
        if let Some(path) = &history {
            // absent at first
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    fn line(&mut self) -> Result<String, ReadlineError> {
        let line = self.editor.readline("> ")?;
        if !line.trim().is_empty() {
            self.editor.add_history_entry(line.trim())?;
            if let Some(path) = &self.history {
                let _ = path
                    .parent()
                    .map_or(Ok(()), create_folder)
                    .and_then(|()| self.editor.append_history(path).map_err(io::Error::other));
            }
        }
        Ok(line)
    }
}

fn create_folder(folder: &std::path::Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}
