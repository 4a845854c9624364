use insomnia_tasks::ItemKind;
use rustyline::error::ReadlineError;

use crate::{
    editor::Editor,
    failure::Failure,
    interrupt::Interrupts,
    screen::Screen,
    session::Opened,
    terminal::{note, one_line},
    turns::{Ended, run_turn},
    whole_session,
};

const HELP: &str = "/tasks              the task list
/history            what was said, one line a message
/reminders on|off   whether the model is reminded of open tasks
/compact            send a summary in place of the older turns
/rewind [N]         go back N turns, or one
/fork DIR           a new session in DIR that begins with this one
/help               this list
/quit               leave; so does Ctrl-D
Anything else is a prompt. Ctrl-C cancels the turn that runs.";

/// Prompts that a person types, until `/quit`. The first one, if given, is run at once.
pub(crate) async fn run(
    opened: &Opened,
    screen: &Screen,
    interrupts: &mut Interrupts,
    first: Option<String>,
) -> Result<(), Failure> {
    let mut editor = Editor::new().map_err(unreadable)?;
    let mut outcome = Ok(());
    if let Some(prompt) = first {
        outcome = turn(opened, screen, interrupts, &prompt, false).await;
    }
    note!("Type a prompt, or /help.");
    loop {
        // a blocking thread: the runtime goes on while somebody types
        let read = tokio::task::spawn_blocking(move || {
            let line = editor.line();
            (editor, line)
        });
        let Ok((back, line)) = read.await else { return outcome };
        editor = back;
        match line {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) if whole_session::command(line.trim(), opened, interrupts).await => {}
            Ok(line) => match command(line.trim(), opened, screen) {
                Next::Prompt(prompt) => outcome = turn(opened, screen, interrupts, prompt, true).await.and(outcome),
                Next::Done => {}
                Next::Quit => return outcome,
            },
            Err(ReadlineError::Interrupted) => note!("/quit or Ctrl-D to leave"),
            Err(ReadlineError::Eof) => return outcome,
            Err(error) => return Err(unreadable(error)),
        }
    }
}

fn unreadable(error: ReadlineError) -> Failure {
    Failure::Turn(format!("cannot read from the terminal: {error}; use -p TEXT or a pipe"))
}

async fn turn(
    opened: &Opened,
    screen: &Screen,
    interrupts: &mut Interrupts,
    prompt: &str,
    typed: bool,
) -> Result<(), Failure> {
    // one that came while nothing ran is not meant for this turn
    interrupts.forget();
    match run_turn(&opened.pod, screen, interrupts, prompt, typed).await {
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
    let words: Vec<_> = line.split_whitespace().collect();
    match words.as_slice() {
        ["/quit" | "/exit"] => return Next::Quit,
        ["/help"] => note!("{HELP}"),
        ["/tasks"] if opened.pod.tasks().list().is_empty() => note!("no tasks yet"),
        ["/tasks"] => screen.tasks(opened.pod.tasks()),
        ["/history"] => history(opened),
        ["/reminders", "on"] => {
            reminders.resume();
            note!("reminders are on");
        }
        ["/reminders", "off"] => {
            reminders.pause();
            note!("reminders are off");
        }
        ["/reminders"] => {
            let state = if reminders.is_paused() { "off" } else { "on" };
            let last = reminders.last_decision().map(|decision| format!("; last: {decision}"));
            note!("reminders are {state}{}", last.unwrap_or_default());
        }
        [word, ..] if word.starts_with('/') => {
            note!("unknown command `{}`; /help lists them", one_line(line, 40));
        }
        _ => return Next::Prompt(line),
    }
    Next::Done
}

fn history(opened: &Opened) {
    let items = opened.pod.history();
    if items.is_empty() {
        note!("nothing was said yet");
    }
    for item in items {
        let calls: Vec<_> = item.tool_calls().into_iter().map(|call| format!("{}()", call.name)).collect();
        let text = format!("{} {}", item.text().unwrap_or_default(), calls.join(" "));
        note!("{:<12} {}", who(item.kind()), one_line(&text, 90));
    }
}

fn who(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::User => "user",
        ItemKind::Assistant => "assistant",
        ItemKind::Tool => "tool",
        ItemKind::System => "system",
        ItemKind::TaskReminder => "reminder",
        ItemKind::Notification => "notification",
        _ => "other",
    }
}
