use std::fs;

use insomnia_tasks_examples::scripted::Reply;
use rexpect::{
    process::WaitStatus,
    session::{PtySession, spawn_command},
};
use serde_json::json;

use crate::place::{Place, Program, create, half, server};

/// The prompt as the line editor draws it once it reads.
const READY: &str = "> \r";
const UP: &str = "\u{1b}[A";

/// A program in a terminal of its own, and what it has printed.
struct Terminal {
    session: PtySession,
    seen: String,
}

impl Terminal {
    fn start(program: Program, kind: &str) -> Self {
        let session = spawn_command(program.env("TERM", kind).command, Some(60_000)).unwrap();
        Self { session, seen: String::new() }
    }

    #[track_caller]
    fn shows(&mut self, text: &str) {
        let before = self.session.exp_string(&as_read(text)).unwrap_or_else(|error| panic!("no `{text}`: {error}"));
        self.seen.push_str(&(before + &as_read(text)));
    }

    fn line(&mut self, line: &str) {
        self.session.send_line(line).unwrap();
    }

    fn control(&mut self, letter: char) {
        self.session.send_control(letter).unwrap();
    }

    /// Waits for the end and returns all that was printed.
    #[track_caller]
    fn ended(mut self, code: i32) -> String {
        self.seen.push_str(&self.session.exp_eof().unwrap());
        let status = self.session.process().wait().unwrap();
        let bytes = self.seen.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let seen = String::from_utf8(bytes).unwrap();
        assert!(matches!(status, WaitStatus::Exited(_, got) if got == code), "{status:?}: {seen}");
        seen
    }
}

/// Text as rexpect reads it: each byte as a character.
fn as_read(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

#[test]
fn the_demo_starts_by_itself_and_takes_commands() {
    let place = Place::new();
    let mut terminal = Terminal::start(place.bare(&[]), "xterm-256color");
    terminal.shows("This is the demo");
    terminal.shows("> Look around in this folder");
    terminal.shows("thinking · request 1");
    terminal.shows("▶ List the files · request ");
    terminal.shows("⏰ reminder");
    terminal.shows("Tasks 1, 2 and 3 are completed");
    terminal.shows("11 requests · 3 of 3 tasks completed");
    terminal.shows(READY);
    terminal.line("/tasks");
    terminal.shows(" 3 Look into the sources");
    terminal.line("/history");
    terminal.shows("user         Look around");
    terminal.shows("reminder     <system-reminder>");
    for (line, answer) in [
        ("/reminders off", "reminders are off"),
        ("/reminders", "reminders are off; last: "),
        ("/reminders  on", "reminders are on"),
        ("/help", "Ctrl-C cancels the turn"),
        ("/nonsense", "unknown command `/nonsense`; /help"),
        ("   ", ""),
    ] {
        terminal.line(line);
        terminal.shows(answer);
        terminal.shows(READY);
    }
    terminal.control('c');
    terminal.shows("Ctrl-C again leaves");
    // the last line but one was /help
    terminal.line(&format!("{UP}{UP}"));
    terminal.shows("what was said, one line a message");
    terminal.line("/quit");
    let seen = terminal.ended(0);
    assert!(seen.contains("\u{1b}[33m"), "colours are for terminals");

    let lines = place.path("home/data/insomnia-tasks/chat-history.txt");
    assert!(fs::read_to_string(&lines).unwrap().contains("/nonsense"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&lines).unwrap().permissions());
    assert_eq!(mode & 0o077, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_cancels_the_turn_and_not_the_program() {
    let place = Place::new();
    let server = server(vec![half("thinking aloud "), Reply::text("second answer")]).await;
    let mut terminal = Terminal::start(place.chat(&server, &[]), "xterm");
    terminal.shows("/help");
    terminal.shows(READY);
    terminal.line("hello");
    terminal.shows("thinking aloud");
    terminal.control('c');
    terminal.shows("cancelled");
    terminal.line("again");
    terminal.shows("second answer");
    terminal.shows(READY);
    terminal.control('d');
    terminal.ended(0);
    assert!(place.history_file().contains("hello"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_color_and_dumb_terminals_are_respected() {
    let place = Place::new();
    let server = server(vec![create("x"), Reply::text("done"), create("x"), Reply::text("done")]).await;
    let mut plain = Terminal::start(place.chat(&server, &[]).env("NO_COLOR", "1"), "xterm");
    plain.shows(READY);
    plain.line("hello");
    plain.shows("2 requests");
    plain.control('d');
    let seen = plain.ended(0);
    let colours = seen.split("\u{1b}[").skip(1).filter(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| rest[end..].starts_with('m') && !rest[..end].starts_with('>'))
    });
    assert_eq!(colours.count(), 0, "{seen:?}");

    let mut dumb = Terminal::start(place.chat(&server, &[]), "dumb");
    dumb.shows("> ");
    dumb.line("hello");
    dumb.shows("2 requests");
    dumb.shows("> ");
    dumb.line("/quit");
    let seen = dumb.ended(0);
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn nothing_that_is_said_steers_the_terminal() {
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\r\u{8}x";
    let name = format!("Evil{hostile}");
    for output in ["text", "json"] {
        let place = Place::new();
        let server = server(vec![
            Reply::text_and_calls(hostile, [("TaskCreate", json!({"subject": hostile, "description": hostile}))]),
            Reply::calls([(name.as_str(), json!({"path": hostile})), ("ReadFile", json!({"path": hostile}))]),
            Reply::error(400, json!({"error": {"message": hostile}})),
        ])
        .await;
        let flags = ["-p", hostile, "--output", output];
        let seen = Terminal::start(place.chat(&server, &flags), "xterm").ended(1);
        let history = place.bare(&["history", "--session", place.session().to_str().unwrap()]);
        let seen = seen + &Terminal::start(history, "xterm").ended(0);
        for evil in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{9b}", "\u{202e}", "\u{2066}", "\u{8}"] {
            assert!(!seen.contains(evil), "{evil:?} in {seen:?}");
        }
        assert!(seen.contains("Evil"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn answers_in_a_file_leave_the_terminal_to_the_person() {
    let place = Place::new();
    let server = server(vec![Reply::text("for the file")]).await;
    let chat = place.chat(&server, &[]);
    let answers = place.path("answers");
    let mut shell = place.program("/bin/sh").args(&["-c", "exec \"$0\" \"$@\" > \"$ANSWERS\""]);
    shell = shell.env("ANSWERS", answers.to_str().unwrap());
    shell.command.arg(chat.command.get_program()).args(chat.command.get_args());
    let mut terminal = Terminal::start(shell, "xterm");
    terminal.shows(READY);
    terminal.line("hello");
    terminal.shows("1 request");
    terminal.shows(READY);
    terminal.control('d');
    terminal.ended(0);
    assert_eq!(fs::read_to_string(answers).unwrap(), "for the file\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_compacted_taken_back_and_forked() {
    let place = Place::new();
    let replies = ["one", "two", "They counted.", "a third answer", "a fourth"].map(Reply::text).to_vec();
    let server = server(replies).await;
    let fork = place.path("fork");
    let mut terminal = Terminal::start(place.chat(&server, &[]), "xterm-256color");
    for (line, answer) in [
        ("/rewind", "the session has 0 turns".to_owned()),
        ("A", "one".to_owned()),
        ("B", "two".to_owned()),
        ("/compact", "2 messages are now sent as a summary: They counted.".to_owned()),
        ("C", "a third answer".to_owned()),
        ("/rewind x", "takes a number".to_owned()),
        ("/rewind", "back at the end of turn 2".to_owned()),
        (&format!("/fork {}", fork.display()), "chat --session".to_owned()),
        ("/fork", "takes the folder".to_owned()),
        ("D", "a fourth".to_owned()),
    ] {
        terminal.shows(READY);
        terminal.line(line);
        terminal.shows(&answer);
    }
    terminal.shows(READY);
    terminal.line("/quit");
    terminal.ended(0);
    let last = server.requests().pop().unwrap().text();
    assert!(last.contains("They counted.") && last.contains("two") && !last.contains("third"), "{last}");
    assert!(fork.join("history.json").exists());
}
