//! Text from anywhere: what is pasted, and what models and servers say, on a terminal that is drawn on.

use insomnia_tasks_examples::scripted::Reply;
use serde_json::json;

use crate::{
    place::{Place, prompts, server},
    screen::Screen,
};

/// Nothing of this is ever drawn by the chat itself.
const EVIL: [&str; 12] = [
    "\u{1b}]",
    "\u{1b}P",
    "\u{1b}c",
    "\u{1b}[2J",
    "\u{1b}[8m",
    "\u{1b}[?1049h",
    "\u{9b}",
    "\u{9d}",
    "\u{7}",
    "\u{e}",
    "\u{202e}",
    "\u{2066}",
];

fn hostile() -> String {
    format!("evil{}\r\u{8}\u{c}end", EVIL.concat())
}

#[track_caller]
fn unharmed(screen: &Screen) {
    let raw = String::from_utf8_lossy(&screen.raw);
    for evil in EVIL {
        assert!(!raw.contains(evil), "{evil:?} in {raw:?}");
    }
    assert!(!raw.contains(['\u{8}', '\u{c}']), "{raw:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_pasted_is_text() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    for (number, no_color) in ["", "1"].into_iter().enumerate() {
        let program = place.chat(&server, &[]).env("NO_COLOR", no_color);
        let mut screen = Screen::start(&place, &program, 80, 40);
        screen.ready();
        let pasted = "one \u{1b}[31mred\ttab\u{7}\u{e}\u{9b}2J\u{202e}\r\n\r\nsecond \u{1b}[2Jline\r";
        screen.types(&format!("\u{1b}[200~{pasted}\u{1b}[201~"));
        screen.shows("second line");
        screen.types("\r");
        screen.shows("— 1 request");
        let asked = prompts(&server.requests()[number]);
        assert_eq!(asked.last().unwrap(), "one red\ttab2J\u{202e}\n\nsecond line");
        // nor does it when it comes back, or when it is typed
        screen.ready();
        screen.types("\u{1b}[A");
        screen.until("the prompt again", |screen| screen.text().matches("second line").count() == 2);
        screen.types("\u{3}");
        screen.ready();
        screen.types("\u{16}\u{7}x\u{16}\u{1b}[2J\u{15}/quit\r");
        screen.ended(0);
        unharmed(&screen);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn very_long_lines() {
    let place = Place::new();
    let long = "x".repeat(50_000);
    let many = (0..3_000).map(|number| format!("line {number}\n")).collect::<String>();
    let server = server(vec![Reply::text(&long), Reply::text(format!("```\n{many}```\n"))]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 40, 30);
    for (times, pasted) in [&long, &many].into_iter().enumerate() {
        screen.ready();
        screen.types(&format!("\u{1b}[200~{pasted}\u{1b}[201~\r"));
        server.wait_for_requests(times + 1).await;
        screen.shows("— 1 request");
        assert_eq!(prompts(&server.requests()[times]).last().unwrap(), pasted.trim());
        screen.ready();
        screen.types("/tasks add next\r");
        screen.until("a task", |screen| screen.text().contains(&format!("○  {} next", times + 1)));
    }
    screen.types(&format!("/tasks add {}\r", &long[..2_000]));
    screen.shows("2000 bytes");
    screen.line("/quit");
    screen.ended(0);
    let printed = screen.scrolled().concat();
    assert!(printed.contains("line 2999"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_no_utf8_ends_nothing() {
    let place = Place::new();
    let server = server(vec![Reply::text("one")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 40);
    screen.ready();
    screen.types_bytes(b"caf\xe9 au lait");
    screen.shows("is not UTF-8");
    screen.types("\u{15}");
    screen.ready();
    screen.types("hello\r");
    screen.shows("— 1 request");
    assert_eq!(prompts(&server.requests()[0]), ["hello"]);
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_models_and_servers_say_is_text() {
    let place = Place::new();
    let hostile = hostile();
    let server = server(vec![
        Reply::text_and_calls(
            format!("# {hostile}\n\n`{hostile}` [{hostile}](<{hostile}>)\n\n```{hostile}\n{hostile}\n```\n\n|{hostile}|\n|-|\n|&#27;[2J|\n"),
            [("TaskCreate", json!({"subject": "subject", "description": hostile})), (hostile.as_str(), json!({"a": hostile}))],
        )
        .reasoning(&hostile),
        Reply::calls([
            ("TaskUpdate", json!({"taskid": 1, "status": "inprogress", "subject": hostile})),
            ("TaskCreate", json!(hostile)),
            ("ReadFile", json!({"path": hostile})),
        ]),
        Reply::error(503, json!({"error": {"message": hostile}})),
        Reply::error(400, json!({"error": {"message": hostile, "code": hostile}})),
        Reply::text("fine"),
        Reply::text(&hostile),
        Reply::raw(200, hostile.clone()).header("content-type", "text/event-stream"),
        Reply::raw(418, hostile.clone()),
    ])
    .await;
    let flags = ["--model", &hostile, "--inactivity", "1", "--cooldown", "1"];
    let mut screen = Screen::start(&place, &place.chat(&server, &flags), 100, 200);
    screen.line("hello");
    screen.shows("error:");
    for (line, shown) in [
        ("again", "fine"),
        ("/tasks", "evil"),
        ("/last", "call 5 of 5"),
        ("/last 4", "call 2 of 5"),
        ("/history", "assistant    "),
        ("/reminders", "reminders are on"),
        ("/compact", "sent as a summary"),
        ("third", "error:"),
        ("fourth", "418"),
        ("/fork /proc/x", "cannot create"),
        ("/nonsense", "unknown command"),
    ] {
        screen.line(line);
        screen.shows(shown);
    }
    screen.line("/quit");
    screen.ended(1);
    unharmed(&screen);
}
