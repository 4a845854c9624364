//! A person's keys and the signals of a terminal: how the chat ends or goes on, and in which state it leaves the terminal.

use std::fs::File;

use insomnia_tasks_examples::scripted::{Gate, Reply};
use serde_json::json;

use crate::{
    place::{Place, create, half, prompts, server},
    screen::Screen,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_signal_to_end_leaves_terminal_and_session_in_order() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
        for in_mid_stream in [false, true] {
            let place = Place::new();
            let begun = vec![create("Tidy up"), half("thinking aloud for long")];
            let replies = begun.into_iter().filter(|_| in_mid_stream).chain([Reply::text("all")]);
            let server = server(replies.collect()).await;
            let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]), 80, 40);
            screen.ready();
            if in_mid_stream {
                screen.line("hello");
                screen.shows("thinking aloud");
            } else {
                screen.types("not yet sent");
                screen.shows("> not yet sent");
            }
            screen.signal(signal);
            screen.shows("[modes as before]");
            screen.ended(code);
            assert!(!screen.pastes_in_brackets() && screen.text().contains("the session is kept in"));
            assert!(!screen.text().contains("thinking ·"), "{}", screen.text());

            let tasks = if in_mid_stream { "1 Tidy up" } else { "" };
            place.chat(&server, &["-p", "again"]).run().ended(0).told(&[tasks]);
            let asked = prompts(server.requests().last().unwrap());
            assert_eq!(asked, if in_mid_stream { vec!["hello", "again"] } else { vec!["again"] });
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_window_that_is_closed_in_mid_stream_loses_nothing() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), half("thinking aloud for long"), Reply::text("all")]).await;
    let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]), 80, 40);
    screen.line("hello");
    screen.shows("thinking aloud");
    screen.close();
    server.wait_for_hang_ups(1).await;
    // its last owner has let go of it
    File::open(place.session().join("history.lock")).unwrap().lock().unwrap();
    place.chat(&server, &["-p", "again"]).run().ended(0).told(&["1 Tidy up"]);
    assert_eq!(prompts(&server.requests()[2]), ["hello", "again"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_z_stops_and_fg_goes_on() {
    let place = Place::new();
    let gate = Gate::new();
    let server = server(vec![create("Tidy up"), Reply::text("late answer").hold(&gate)]).await;
    let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]), 80, 50);
    screen.line("hello");
    screen.shows("thinking · request 2");
    screen.types("\u{1a}");
    screen.shows("[stopped]");
    gate.open();
    screen.types("\r");
    screen.shows("late answer");
    screen.shows("— 2 requests");
    screen.ready();
    let seen = screen.text();
    let after = &seen[seen.find("[stopped]").unwrap()..];
    assert_eq!((after.matches("late answer").count(), after.matches("request 2").count()), (1, 0), "{seen}");
    screen.types("half a line");
    screen.shows("> half a line");
    screen.types("\u{1a}");
    screen.until("a second stop", |screen| screen.text().matches("[stopped]").count() == 2);
    assert!(!screen.pastes_in_brackets());
    screen.types("\r");
    screen.until("the line again", |screen| {
        screen.pastes_in_brackets() && screen.rows().last().is_some_and(|row| row == "> half a line")
    });
    screen.types("\u{15}/quit\r");
    screen.shows("[modes as before]");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_gives_up_a_line_first_and_leaves_at_an_empty_one() {
    let place = Place::new();
    let server = server(vec![Reply::text("one")]).await;
    let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]), 80, 40);
    screen.ready();
    for times in 1..=3 {
        screen.types("not meant");
        screen.until("the line", |screen| screen.text().matches("> not meant").count() == times);
        screen.types("\u{3}");
        screen.ready();
    }
    screen.types("\u{3}");
    screen.shows("Ctrl-C again leaves");
    screen.ready();
    screen.line("hello");
    screen.shows("— 1 request");
    screen.ready();
    screen.types("\u{3}");
    screen.until("the hint again", |screen| screen.text().matches("Ctrl-C again leaves").count() == 2);
    screen.ready();
    screen.types("\u{3}");
    screen.shows("[modes as before]");
    screen.ended(0);
    assert_eq!(prompts(&server.requests()[0]), ["hello"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_d_leaves_and_failed_turns_tell_in_the_end() {
    let place = Place::new();
    let refusal = Reply::error(400, json!({"error": {"message": "no such thing"}}));
    let server = server(vec![Reply::text("one"), refusal, Reply::text("two")]).await;
    for (lines, code) in [(&[("a", "one\n")][..], 0), (&[("b", "error:"), ("c", "two\n")], 1)] {
        let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]), 80, 40);
        for (line, answer) in lines {
            screen.line(line);
            screen.shows(answer);
        }
        screen.ready();
        screen.types("x\u{8}\u{4}");
        screen.shows("[modes as before]");
        screen.ended(code);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_line_editing_ctrl_c_gives_up_what_was_begun() {
    let place = Place::new();
    let server = server(vec![Reply::text("one")]).await;
    let mut screen = Screen::start_in_shell(&place, &place.chat(&server, &[]).env("TERM", "dumb"), 80, 40);
    screen.until("a prompt", |screen| screen.rows().last().is_some_and(|row| row == ">"));
    screen.types("begun \\\r");
    screen.until("the second line", |screen| screen.rows().last().is_some_and(|row| row.starts_with("> begun")));
    screen.types("and\u{3}");
    screen.shows("Ctrl-C again leaves");
    // not UTF-8, as some keyboards are
    screen.types_bytes(b"caf\xe9\r");
    screen.shows("— 1 request");
    assert_eq!(prompts(&server.requests()[0]), ["caf\u{fffd}"]);
    screen.types("\u{4}");
    screen.shows("[modes as before]");
    screen.ended(0);
}
