//! Terminals of little room, and text that is wider than it is long.

use insomnia_tasks_examples::scripted::{Gate, Reply};
use serde_json::json;

use crate::{
    place::{Place, server},
    screen::Screen,
};

const SUBJECT: &str = "漢字かな交じり文 👩‍👩‍👧 e\u{301}tude und noch mehr davon";
const ANSWER: &str = "An answer of some length with 漢字かな交じり文 and e\u{301}tudes.\n\n\
    - one item that has to be wrapped\n- two\n\n```\nlet width = columns.saturating_sub(1);\n```\n\nThe end.";

/// What is drawn in place, and must have gone after a turn.
const UNDER_WAY: [&str; 6] = ["thinking", "running", "⠋", "⠙", "⠹", " req "];

fn words(rows: &[String]) -> String {
    rows.concat().replace(char::is_whitespace, "")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_width_down_to_ten() {
    for columns in [40, 33, 24, 23, 17, 13, 10] {
        let place = Place::new();
        let (held, last) = (Gate::new(), Gate::new());
        let server = server(vec![
            Reply::calls([("TaskCreate", json!({"subject": SUBJECT, "description": ""}))]),
            Reply::calls([("TaskUpdate", json!({"taskid": 1, "status": "inprogress"}))]).hold(&held),
            Reply::text(ANSWER).hold_chunk(9, &last),
        ])
        .await;
        let mut screen = Screen::start(&place, &place.chat(&server, &[]), columns, 90);
        screen.line("hello");
        screen.until("the list while it works", |screen| {
            screen.rows().iter().any(|row| row.trim_start().starts_with("○  1 "))
        });
        held.open();
        screen.until("the task in the status line", |screen| {
            let rows = screen.rows();
            let status = rows.last().unwrap();
            // no row goes on in the next one
            rows.iter().any(|row| row.trim_start().starts_with("▶  1 ")) && status.ends_with(" s")
        });
        let status = screen.rows().pop().unwrap();
        assert!(console::measure_text_width(&status) < usize::from(columns), "{columns}: {status}");
        last.open();
        screen.until("the end", |screen| words(&screen.rows()).contains("—3requests·0of1taskcompleted"));
        screen.ready();
        let rows = screen.scrolled();
        let seen = words(&rows);
        for said in ["Anansweroflength".replace("of", "ofsome"), "漢字かな交じり文".to_owned(), "Theend.".to_owned()]
        {
            assert!(seen.contains(&said), "{columns}: no {said} in {rows:#?}");
        }
        assert_eq!(seen.matches("Theend.").count(), 1, "{columns}: {rows:#?}");
        assert_eq!(seen.matches("tasks░░").count(), 1, "{columns}: {rows:#?}");
        assert!(UNDER_WAY.iter().all(|gone| !rows.iter().any(|row| row.contains(gone))), "{columns}: {rows:#?}");
        // typed ahead, which loses nothing
        screen.types("/tasks\r/help\r/last\r/history\r/quit\r");
        screen.ended(0);
        let said = words(&screen.scrolled());
        assert!(["thislist", "call2of2", "assistant"].iter().all(|word| said.contains(word)), "{columns}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn few_rows() {
    let paragraph = (1..=30).map(|number| format!("word{number:02}")).collect::<Vec<_>>().join(" ");
    for rows in [1, 2, 3, 5, 8] {
        let place = Place::new();
        let tasks =
            (1..=12).map(|number| ("TaskCreate", json!({"subject": format!("Step {number}"), "description": ""})));
        let answer = format!("{paragraph}\n\n{paragraph}\n\nThe end.");
        let server = server(vec![Reply::calls(tasks), Reply::text(answer)]).await;
        let mut screen = Screen::start(&place, &place.chat(&server, &[]), 30, rows);
        screen.types("hello\r/quit\r");
        screen.ended(0);
        let seen = screen.scrolled();
        let all = seen.join("\n");
        for number in 1..=30 {
            assert_eq!(all.matches(&format!("word{number:02}")).count(), 2, "{rows} rows: {seen:#?}");
        }
        assert_eq!(
            (all.matches("The end.").count(), all.matches("thinking").count()),
            (1, 0),
            "{rows} rows: {seen:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn resized_again_and_again_in_mid_stream() {
    let place = Place::new();
    let gates: Vec<_> = (0..6).map(|_| Gate::new()).collect();
    let text = (1..=60).map(|number| format!("word{number:02}")).collect::<Vec<_>>().join(" ");
    let mut answer = Reply::text(&text);
    for (number, gate) in gates.iter().enumerate() {
        answer = answer.hold_chunk(8 + 8 * number, gate);
    }
    let server =
        server(vec![Reply::calls([("TaskCreate", json!({"subject": SUBJECT, "description": ""}))]), answer]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 60, 60);
    screen.line("hello");
    screen.shows("word01");
    for (gate, columns) in gates.iter().zip([30, 12, 45, 10, 80, 24]) {
        screen.resize(columns, 60);
        screen.until("a status line that fits", |screen| {
            screen
                .rows()
                .last()
                .is_some_and(|row| row.ends_with(" s") && console::measure_text_width(row) < columns.into())
        });
        gate.open();
    }
    screen.until("the end", |screen| words(&screen.rows()).contains("—2requests"));
    let rows = screen.scrolled();
    let seen = words(&rows);
    // at another width a row may come twice, but none is left out
    assert!((1..=60).all(|number| seen.contains(&format!("word{number:02}"))), "{rows:#?}");
    assert!(seen.matches("tasks░░").count() == 1 && !seen.contains("thinking"), "{rows:#?}");
    screen.types("/quit\r");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn wide_characters_are_typed() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 20, 40);
    screen.ready();
    screen.types("漢字かな交じり文漢字かな交じり文 e\u{301}x\u{8}\u{8} 👍");
    screen.until("all of it", |screen| words(&screen.rows()).ends_with("漢字かな交じり文漢字かな交じり文👍"));
    screen.types("\u{1}a\r");
    screen.shows("— 1 request");
    screen.ready();
    screen.types("/tasks add 漢字 👍 e\u{301}tude\r");
    screen.until("the task", |screen| screen.rows().iter().any(|row| row.contains("○  1 漢字 👍")));
    // what stands in the history is drawn and sent as it was
    screen.ready();
    screen.types("\u{1b}[A\u{1b}[A\r");
    screen.until("the second answer", |screen| screen.text().matches("— 1 request").count() == 2);
    let asked = crate::place::prompts(&server.requests()[1]);
    assert_eq!(asked, ["a漢字かな交じり文漢字かな交じり文  👍", "a漢字かな交じり文漢字かな交じり文  👍"]);
    screen.types("/quit\r");
    screen.ended(0);
}
