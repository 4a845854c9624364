//! Standard streams that are closed, full or gone, and folders that cannot be written.

use std::fs;

use insomnia_tasks_examples::scripted::Reply;

use crate::{
    place::{Place, Program, Ran, create, prompts, server},
    screen::Screen,
};

/// Runs the program through a shell; in the script it is `"$0" "$@"`.
fn in_shell(place: &Place, program: &Program, script: &str) -> Ran {
    let mut shell = place.program("/bin/sh").args(&["-c", script]).env("PATH", "/usr/bin:/bin");
    shell.command.arg(program.command.get_program()).args(program.command.get_args());
    shell.run()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn closed_ones_are_empty() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    let ran = in_shell(&place, &place.chat(&server, &[]), r#""$0" "$@" <&-"#).ended(0);
    assert_eq!((ran.stdout.as_str(), server.requests().len()), ("", 0));
    in_shell(&place, &place.chat(&server, &["-p", "A"]), r#""$0" "$@" >&-"#).ended(0).told(&["— 1 request"]);
    in_shell(&place, &place.chat(&server, &["-p", "B"]), r#""$0" "$@" <&- >&- 2>&-"#).ended(0);
    assert!(place.history_file().contains("two"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reader_of_the_first_line_ends_nothing() {
    for output in ["text", "json"] {
        let place = Place::new();
        let lines = "line\n".repeat(5_000);
        let server = server(vec![Reply::text(&lines), Reply::text("two")]).await;
        let program = place.chat(&server, &["-p", "A", "-p", "B", "--output", output]);
        let ran = in_shell(&place, &program, r#"{ "$0" "$@"; echo "code $?" >&2; } | head -n 1"#).told(&["code 0"]);
        assert_eq!(ran.stdout.lines().count(), 1);
        assert!(place.history_file().contains("two"));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_full_disk_fails_the_turn() {
    const FULL: &str = r#""$0" "$@" >/dev/full"#;
    const WHY: &str = "cannot write to stdout: No space left on device";
    for output in ["text", "json"] {
        let place = Place::new();
        let server =
            server(vec![create("Tidy up"), Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
        let flags = ["-p", "A", "-p", "B", "--output", output];
        in_shell(&place, &place.chat(&server, &flags), FULL).ended(1).told(&[WHY, "not run: 1"]);
        assert_eq!(server.requests().len(), 2);
        // the session has all that was said
        assert!(place.history_file().contains("one"));
        let flags = [&flags[..], &["--keep-going"]].concat();
        let ran = in_shell(&place, &place.chat(&server, &flags), FULL).ended(1);
        assert_eq!((ran.stderr.matches(WHY).count(), server.requests().len()), (2, 4), "{ran:?}");
        let session = place.session();
        let session = session.to_str().unwrap();
        for command in ["tasks", "history", "report"] {
            in_shell(&place, &place.bare(&[command, "--session", session]), FULL).ended(1).told(&[WHY]);
        }
        let listed = place.bare(&["--base-url", &server.base_url()]);
        in_shell(&place, &listed, r#""$0" "$@" </dev/null"#).ended(0);
        in_shell(&place, &place.bare(&["sessions"]), FULL).ended(1).told(&[WHY]);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_person_is_told_of_a_full_disk() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    let script = r#"exec "$0" "$@" >/dev/full"#;
    let mut screen = Screen::start_as(script, &place, &place.chat(&server, &[]), 80, 40);
    for times in 1..=2 {
        screen.line(&format!("prompt {times}"));
        screen.until("an error", |screen| screen.text().matches("cannot write to stdout").count() == times);
    }
    screen.line("/quit");
    screen.ended(1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn chats_side_by_side_share_what_was_typed() {
    let place = Place::new();
    let server = server(vec![Reply::text("answer"); 4]).await;
    let base_url = server.base_url();
    let chat = |session: &str| place.bare(&["--base-url", &base_url, "--session", session]);
    let mut screens = ["a", "b"].map(|session| Screen::start(&place, &chat(session), 80, 40));
    for round in ["first", "second"] {
        for (number, screen) in screens.iter_mut().enumerate() {
            screen.line(&format!("{round} of chat {number}"));
            let answers = if round == "first" { 1 } else { 2 };
            screen.until("an answer", |screen| screen.text().matches("— 1 request").count() == answers);
        }
    }
    for screen in &mut screens {
        screen.line("/quit");
        screen.ended(0);
    }
    let lines = fs::read_to_string(place.path("home/data/insomnia-tasks/chat-history.txt")).unwrap();
    for line in ["first of chat 0", "first of chat 1", "second of chat 0", "second of chat 1"] {
        assert_eq!(lines.matches(line).count(), 1, "{lines}");
    }
    let mut third = Screen::start(&place, &chat("c"), 80, 40);
    third.ready();
    third.types(&"\u{1b}[A".repeat(3));
    third.shows("> second of chat ");
    third.types("\u{15}\u{4}");
    third.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_data_folder_that_cannot_be_written_costs_the_history_of_lines_alone() {
    let place = Place::new();
    fs::write(place.path("file"), "text").unwrap();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    let program = place.chat(&server, &[]).env("XDG_DATA_HOME", place.path("file").to_str().unwrap());
    let mut screen = Screen::start(&place, &program, 80, 40);
    screen.line("hello");
    screen.shows("— 1 request");
    screen.ready();
    screen.types("\u{1b}[A\r");
    screen.until("the second answer", |screen| screen.text().matches("— 1 request").count() == 2);
    assert_eq!(prompts(&server.requests()[1]), ["hello", "hello"]);
    screen.line("/quit");
    screen.ended(0);
}
