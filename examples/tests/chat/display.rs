//! What a person sees of a chat on a real terminal.

use insomnia_tasks_examples::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::{
    place::{Place, create, half, prompts, server},
    screen::Screen,
};

fn count(screen: &Screen, text: &str) -> usize {
    screen.text().matches(text).count()
}

#[test]
fn a_turn_of_the_demo() {
    let place = Place::new();
    let mut screen = Screen::start(&place, &place.bare(&[]), 80, 60);
    screen.shows("⠋ thinking · request 1 ");
    screen.shows("  tasks ░░░░░░░░░░ 0/3 · 1 in progress · 3 open");
    screen.shows(" ▶ List the files · request ");
    screen.until("tokens", |screen| screen.text().contains("k tokens · "));
    screen.shows("11 requests · 3 of 3 tasks completed");
    screen.ready();
    let seen = screen.text();
    // the list is there once, as it is now, and nothing is left of what was under way
    assert_eq!((count(&screen, "  tasks "), count(&screen, "  tasks ██████████ 3/3")), (1, 1), "{seen}");
    assert_eq!(count(&screen, "✔  2 Read the manifest"), 1, "{seen}");
    assert!(!seen.contains("thinking") && !seen.contains(" tokens out"), "{seen}");
    assert_eq!(count(&screen, "⏰ reminder (about "), 1, "{seen}");
    assert!(screen.cell("⏰").dim());
    assert_eq!(count(&screen, "• TaskCreate"), 3, "{seen}");
    assert!(screen.cell("✔").fgcolor() != vt100::Color::Default);
    screen.line("/quit");
    screen.ended(0);
    let seen = screen.text();
    assert!(seen.contains("the session is kept in ") && seen.contains("--session"), "{seen}");
    // inline: neither the whole screen nor what was on it before is taken
    let raw = String::from_utf8_lossy(&screen.raw);
    assert!(!raw.contains("\u{1b}[?1049h") && !raw.contains("\u{1b}[2J"));
}

const MARKDOWN: &str = "# Head\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```\nlet a = 1;\n```\n\n|name|size|\n|-|-|\n|漢字|2|\n\nThe end.";

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn answers_are_rendered_while_they_come() {
    let place = Place::new();
    let server =
        server(vec![half("Some **bold** text"), Reply::text(MARKDOWN), Reply::text("a&#27;[2J`\u{1b}]0;x\u{7}`b")])
            .await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 60);
    screen.line("half");
    // the answer never ends
    screen.shows("Some bold");
    assert!(screen.cell("bold").bold());
    screen.types("\u{3}");
    screen.line("all of it");
    screen.shows("The end.");
    screen.shows("— 1 request");
    let rows = screen.rows();
    let start = rows.iter().position(|row| row == "# Head").unwrap();
    let expected = [
        "# Head",
        "",
        "Some bold and code.",
        "",
        "• one",
        "• two",
        "",
        "  let a = 1;",
        "",
        "name │ size",
        "─────┼─────",
        "漢字 │ 2",
        "",
        "The end.",
        "— 1 request",
    ];
    assert_eq!(rows[start..start + expected.len()], expected);
    assert!(screen.cell("# Head").bold() && screen.cell("name").bold());
    assert!(screen.cell("code.").fgcolor() != vt100::Color::Default);
    screen.line("hostile");
    screen.until("the answer", |screen| count(screen, "— 1 request") == 2);
    assert!(screen.text().contains("a[2J]0;xb"), "{}", screen.text());
    assert!(!screen.raw.windows(4).any(|bytes| bytes == b"\x1b[2J" || bytes == b"\x1b]0;"));
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_resize_in_mid_stream() {
    let place = Place::new();
    let (first, rest) =
        (Gate::new(), "and some more words that come later, so that there are many rows of them in the end.");
    let text = format!("These are some words that fill most of one row of a terminal of this size {rest}");
    let server = server(vec![
        create("A task whose subject is longer than a narrow terminal is wide"),
        Reply::text(&text).hold_chunk(6, &first),
    ])
    .await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 40);
    screen.line("hello");
    screen.shows("that fill most of one row");
    screen.until("a status line", |screen| screen.text().contains("request 2"));
    screen.resize(40, 40);
    screen.until("a narrow display", |screen| {
        screen.text().contains("req 2")
            && screen.rows().iter().any(|row| row.starts_with("These are some words that fill most"))
    });
    first.open();
    screen.shows("— 2 requests");
    screen.ready();
    let rows = screen.rows();
    let start = rows.iter().position(|row| row.starts_with("These are")).unwrap();
    let end = rows.iter().position(|row| row.starts_with("  tasks")).unwrap();
    assert_eq!(rows[start..end].join(" "), text, "{rows:#?}");
    assert_eq!(
        (count(&screen, "These are"), count(&screen, "  tasks "), count(&screen, "req 2")),
        (1, 1, 0),
        "{rows:#?}"
    );
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ctrl_c_cancels_and_a_second_one_leaves() {
    let place = Place::new();
    let server = server(vec![half("thinking aloud for long"), Reply::text("all"), half("more and more")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 40);
    screen.line("first");
    screen.shows("thinking aloud");
    screen.types("\u{3}");
    screen.shows("cancelled; the next prompt goes on from here");
    // what had come stays, what was under way goes
    assert_eq!((count(&screen, "thinking aloud"), count(&screen, " s\n")), (1, 0), "{}", screen.text());
    screen.line("second");
    screen.shows("all\n");
    screen.ready();
    screen.types("\u{3}");
    screen.shows("Ctrl-C again leaves");
    screen.line("third");
    screen.shows("more and");
    screen.types("\u{3}");
    screen.until("cancelled", |screen| count(screen, "cancelled") == 2);
    screen.ready();
    screen.types("\u{3}");
    screen.ended(0);
    assert!(screen.text().contains("the session is kept in"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn forty_columns() {
    let place = Place::new();
    let gate = Gate::new();
    let long = "Ein sehr langer Betreff mit 漢字かな交じり文 und noch mehr davon";
    let server = server(vec![
        create(long),
        Reply::calls([("TaskUpdate", json!({"taskid": 1, "status": "inprogress"}))]),
        Reply::text(
            "an answer of some length, which has to be wrapped twice or more 漢字かな交じり文漢字かな交じり文漢字",
        ),
        Reply::text("late").hold(&gate),
    ])
    .await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 40, 40);
    screen.line("hello");
    screen.shows("— 3 requests · 0 of 1 task completed");
    screen.line("again");
    screen.shows("req 1");
    screen.until("a task in the status line", |screen| {
        screen.rows().last().is_some_and(|row| row.contains("▶ Ein") && row.contains("… · ") && row.ends_with(" s"))
    });
    let rows = screen.rows();
    assert!(rows.iter().any(|row| row.starts_with("• TaskCreate") && row.ends_with('…')), "{rows:#?}");
    assert!(rows.iter().any(|row| row.starts_with("    ▶  1 Ein sehr") && row.ends_with('…')), "{rows:#?}");
    assert!(rows.iter().any(|row| row == "an answer of some length, which has to"), "{rows:#?}");
    gate.open();
    screen.shows("late");
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn many_tasks_are_folded() {
    let place = Place::new();
    let gate = Gate::new();
    let create = |number| ("TaskCreate", json!({"subject": format!("Step {number}"), "description": ""}));
    let server = server(vec![
        Reply::calls((1..=14).map(create)),
        Reply::calls([("TaskUpdate", json!({"taskid": 13, "status": "inprogress"}))]),
        Reply::text("done").hold(&gate),
    ])
    .await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 50);
    screen.line("hello");
    screen.shows("▶ 13 Step 13");
    screen.shows("▶ Step 13 · request 3");
    let rows = screen.rows();
    let head = rows.iter().position(|row| row == "  tasks ░░░░░░░░░░ 0/14 · 1 in progress · 14 open").unwrap();
    assert!(rows[head + 10].contains("… 5 more; /tasks all"), "{rows:#?}");
    assert_eq!(rows.len(), head + 12, "{rows:#?}");
    // what is typed meanwhile is for the next prompt
    screen.types("/tasks all\r");
    gate.open();
    screen.shows("    ○ 14 Step 14");
    screen.ready();
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_person_edits_the_tasks() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), Reply::text("noted")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 50);
    screen.line("/tasks");
    screen.shows("no tasks yet");
    screen.line("hello");
    screen.shows("— 2 requests");
    for (line, answer) in [
        ("/tasks add Water the  plants", "○  2 Water the plants"),
        ("/tasks add Feed the cat", "○  3 Feed the cat"),
        ("/tasks add", "the subject is empty"),
        ("/tasks start 3", "▶  3 Feed the cat"),
        ("/tasks done 1 #2", "✔  2 Water the plants"),
        ("/tasks delete 3", "✘  3 Feed the cat"),
        ("/tasks done 9", "there is no task 9"),
        ("/tasks done x", "`x` is no number of a task"),
        ("/tasks done", "which task?"),
        ("/tasks nonsense", "/tasks takes"),
        ("/tasks", "  tasks ██████████ 2/2"),
    ] {
        screen.line(line);
        screen.shows(answer);
    }
    screen.ready();
    // on the disk while the chat still runs
    let edits = place.records().into_iter().filter(|record| record["record"] == "task_edit");
    assert_eq!(edits.count(), 6);
    screen.line("/quit");
    screen.ended(0);
    let tasks = place.bare(&["tasks", "--session", place.session().to_str().unwrap()]).run().ended(0).stdout;
    let tasks: Vec<Value> = serde_json::from_str(&tasks).unwrap();
    let statuses: Vec<_> = tasks.iter().map(|task| task["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "completed", "deleted"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_compaction_is_under_way_until_it_is_done_or_cancelled() {
    let place = Place::new();
    let gates = [Gate::new(), Gate::new()];
    let held = |gate| Reply::text("They counted.").hold(gate);
    let server = server(vec![Reply::text("one"), Reply::text("two"), held(&gates[0]), held(&gates[1])]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 40);
    for (line, answer) in [("A", "one\n"), ("B", "two\n")] {
        screen.line(line);
        screen.shows(answer);
    }
    screen.ready();
    screen.types("/compact\r");
    screen.shows("summing up · ");
    server.wait_for_requests(3).await;
    screen.types("\u{3}");
    screen.shows("cancelled; nothing was compacted");
    screen.ready();
    screen.types("/compact\r");
    screen.shows("summing up · ");
    gates[1].open();
    screen.shows("2 messages are now sent as a summary: They counted.");
    screen.ready();
    assert_eq!(count(&screen, "summing up"), 0, "{}", screen.text());
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn tool_calls_are_opened() {
    let place = Place::new();
    let server = server(vec![
        Reply::calls([
            ("ReadFile", json!({"path": "notes.txt"})),
            ("ReadFile", json!({"path": "missing\u{1b}[2J.txt"})),
        ]),
        Reply::text("read"),
    ])
    .await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 50);
    screen.line("/last");
    screen.shows("no tool was called yet");
    screen.line("hello");
    screen.shows("— 2 requests");
    assert_eq!((count(&screen, "• ReadFile notes.txt"), count(&screen, "two\n")), (1, 0), "{}", screen.text());
    assert!(screen.cell("ReadFile: ").fgcolor() == vt100::Color::Idx(1));
    screen.line("/last 2");
    screen.shows("• ReadFile call 1 of 2");
    screen.shows("\"path\": \"notes.txt\"");
    screen.shows("2  two");
    screen.line("/last 3");
    screen.shows("there are only 2 calls");
    screen.line("/last x");
    screen.shows("/last takes how many calls ago");
    screen.ready();
    screen.types("unfinished\u{f}");
    screen.shows("• ReadFile call 2 of 2");
    // what was typed is still there
    screen.until("the prompt again", |screen| screen.rows().last().is_some_and(|row| row == "> unfinished"));
    assert!(!screen.raw.windows(4).any(|bytes| bytes == b"\x1b[2J"));
    screen.types("\u{15}/quit\r");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn prompts_of_several_lines_and_completion() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]), 80, 50);
    for (typed, answer) in [
        ("first\\\rsecond\u{1b}\rthird\r", "one\n"),
        ("\u{1b}[200~pasted \\\rlines\u{1b}[201~\r", "two\n"),
        ("\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A\u{1b}[A\r", "three\n"),
    ] {
        screen.ready();
        screen.types(typed);
        screen.shows(answer);
    }
    let asked = prompts(&server.requests()[2]);
    assert_eq!(asked, ["first\nsecond\nthird", "pasted \\\nlines", "first\nsecond\nthird"]);
    screen.ready();
    screen.types("/ta\t");
    screen.until("the command", |screen| screen.rows().last().is_some_and(|row| row == "> /tasks"));
    screen.types("ad\t");
    screen.until("its word", |screen| screen.rows().last().is_some_and(|row| row == "> /tasks add"));
    screen.types("\u{15}/quit\r");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn no_color_is_drawn_without_colours() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), Reply::text(MARKDOWN)]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]).env("NO_COLOR", "1"), 80, 50);
    screen.line("hello");
    screen.shows("— 2 requests");
    screen.ready();
    let seen = screen.text();
    assert!(seen.contains("# Head\n\nSome **bold** and `code`.\n\n• one"), "{seen}");
    assert_eq!(count(&screen, "  tasks "), 1, "{seen}");
    let raw = String::from_utf8_lossy(&screen.raw);
    let styles = raw.split("\u{1b}[").skip(1).filter(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| rest[end..].starts_with('m') && !rest[..end].starts_with('>'))
    });
    assert_eq!(styles.count(), 0, "{raw:?}");
    screen.line("/quit");
    screen.ended(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_dumb_terminal_gets_plain_lines() {
    let place = Place::new();
    let server = server(vec![create("Tidy up"), Reply::text(MARKDOWN), half("thinking aloud for long")]).await;
    let mut screen = Screen::start(&place, &place.chat(&server, &[]).env("TERM", "dumb"), 80, 50);
    screen.until("a prompt", |screen| screen.rows().last().is_some_and(|row| row == ">"));
    screen.types("two\\\rlines\r");
    screen.shows("— 2 requests");
    screen.shows("Some **bold** and `code`.");
    assert_eq!(prompts(&server.requests()[0]), ["two\nlines"]);
    screen.types("/tasks done 1\r");
    screen.shows("✔  1 Tidy up");
    screen.types("again\r");
    screen.shows("thinking aloud");
    screen.types("\u{3}");
    screen.shows("cancelled");
    screen.types("/quit\r");
    screen.ended(0);
    assert!(!screen.raw.contains(&0x1b), "{}", String::from_utf8_lossy(&screen.raw));
}
