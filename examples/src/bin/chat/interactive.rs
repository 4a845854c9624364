use std::{
    fs::File,
    io::{ErrorKind, IsTerminal, Write, stderr},
    sync::atomic::Ordering,
    thread,
};

use insomnia_tasks::ItemKind;
use rustyline::error::ReadlineError;
use tokio::sync::oneshot;

use crate::{
    commands::{help, is_command},
    editor::{Editor, PROMPT, STOP},
    failure::Failure,
    interrupt::Interrupts,
    last,
    modes::{Kept, stop},
    screen::Screen,
    session::Opened,
    task_commands,
    terminal::{note, one_line},
    turns::{Ended, run_turn},
    whole_session,
};

const AGAIN: &str = "Ctrl-C again leaves; so do /quit and Ctrl-D";

/// Prompts that a person types, until `/quit`. The first one, if given, is run at once.
pub(crate) async fn run(
    opened: &Opened,
    screen: &Screen,
    interrupts: &mut Interrupts,
    first: Option<String>,
) -> Result<(), Failure> {
    let mut editor = Editor::new().map_err(unreadable)?;
    let mut outcome = Ok(());
    // whether the last thing that came was Ctrl-C: another one leaves
    let mut interrupted = false;
    if let Some(prompt) = first {
        match turn(opened, screen, interrupts, &prompt, false).await {
            Err(Ended::Left) => return outcome,
            Err(Ended::Failed) => outcome = Err(Failure::Shown),
            ended => interrupted = ended == Err(Ended::Cancelled),
        }
    }
    note!("Type a prompt, or /help.");
    loop {
        let came = interrupts.forget();
        if interrupts.leaving().is_some() || interrupted && came {
            return outcome;
        }
        let Some((back, typed)) = read(editor, interrupts, &mut interrupted).await? else { return outcome };
        editor = back;
        let line = match &typed {
            Ok(line) => line.trim(),
            Err(ReadlineError::Interrupted) if interrupted => return outcome,
            Err(ReadlineError::Interrupted) => {
                interrupted = true;
                note!("{AGAIN}");
                continue;
            }
            Err(ReadlineError::Eof) => return outcome,
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                note!("the line is given up: what was typed last is not UTF-8");
                continue;
            }
            Err(_) => return typed.map_err(unreadable).and(outcome),
        };
        interrupted = false;
        if line == STOP {
            stop().await;
            continue;
        }
        if line.is_empty()
            || task_commands::command(line, opened, screen).await
            || whole_session::command(line, opened, screen, interrupts).await
        {
            continue;
        }
        match command(line, opened) {
            Next::Done => {}
            Next::Quit => return outcome,
            Next::Prompt(prompt) => match turn(opened, screen, interrupts, prompt, true).await {
                Err(Ended::Left) => return outcome,
                Err(Ended::Failed) => outcome = Err(Failure::Shown),
                ended => interrupted = ended == Err(Ended::Cancelled),
            },
        }
    }
}

/// What is typed next; none if the program is to end. A thread of its own reads: it neither holds up the runtime nor the end.
async fn read(
    mut editor: Editor,
    interrupts: &mut Interrupts,
    interrupted: &mut bool,
) -> Result<Option<(Editor, Result<String, ReadlineError>)>, Failure> {
    let modes = Kept::new();
    let dumb = editor.dumb();
    let (sender, mut read) = oneshot::channel();
    thread::spawn(move || {
        let typed = editor.read();
        let _ = sender.send((editor, typed));
    });
    loop {
        tokio::select! {
            biased;
            read = &mut read => {
                modes.release();
                return read.map(Some).map_err(|_| Failure::Turn("the line editor broke; use -p TEXT or a pipe".to_owned()));
            }
            () = interrupts.next() => {}
        }
        if interrupts.leaving().is_some() || std::mem::replace(interrupted, true) {
            drop(modes);
            if dumb.is_none() {
                end_paste();
            }
            return Ok(None);
        }
        if let Some(dropped) = &dumb {
            // the terminal has thrown away what was typed
            dropped.store(true, Ordering::Relaxed);
            note!("\n{AGAIN}");
            let _ = write!(stderr(), "{PROMPT}");
        }
    }
}

/// Switches bracketed paste off, which the line editor has switched on.
fn end_paste() {
    const OFF: &[u8] = b"\x1b[?2004l\r\n";
    // it writes to the terminal itself, whatever stderr is
    let _ = match File::options().write(true).open("/dev/tty") {
        Ok(mut terminal) => terminal.write_all(OFF),
        Err(_) if stderr().is_terminal() => stderr().write_all(OFF),
        Err(_) => Ok(()),
    };
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
) -> Result<(), Ended> {
    // one that came while nothing ran is not meant for this turn
    interrupts.forget();
    if interrupts.leaving().is_some() {
        return Err(Ended::Left);
    }
    run_turn(&opened.pod, screen, interrupts, prompt, typed).await
}

enum Next<'a> {
    Prompt(&'a str),
    Done,
    Quit,
}

fn command<'a>(line: &'a str, opened: &Opened) -> Next<'a> {
    let reminders = opened.pod.reminders();
    let words: Vec<_> = line.split_whitespace().collect();
    match words.as_slice() {
        ["/quit" | "/exit"] => return Next::Quit,
        ["/help"] => note!("{}", help()),
        ["/last"] => last::show("", &opened.pod.history()),
        ["/last", which] => last::show(which, &opened.pod.history()),
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
        [word, ..] if is_command(word) => {
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
