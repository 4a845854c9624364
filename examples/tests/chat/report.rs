use std::{fs, path::Path, process::Command};

use insomnia_tasks::{
    Item,
    session::{Entry, EntryBody, FileStore, Header},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::place::{Place, list, server};

const HOSTILE: &str =
    "<script>hacked=1</script></svg></style>\"'><img src=x onerror=hacked=1> \u{202e}olleh\u{2066} \u{1b}[2J\0 &amp;";
/// The same with what cannot be seen made visible.
const SHOWN: &str =
    "<script>hacked=1</script></svg></style>\"'><img src=x onerror=hacked=1> [U+202E]olleh[U+2066] ␛[2J␀ &amp;";

/// Three tasks, a reminder that is answered and one that is not, an error, a turn that failed, and hostile text everywhere.
async fn hostile_session() -> (Place, ScriptedServer) {
    let place = Place::new();
    let create = ["one", HOSTILE, "three"].map(|subject| {
        let subject = subject.replace(|c: char| c.is_control(), "");
        ("TaskCreate", json!({"subject": subject, "description": HOSTILE}))
    });
    let update = |taskid: u64, status: &str| ("TaskUpdate", json!({"taskid": taskid, "status": status}));
    let counted = |reply: Reply, tokens| reply.usage(tokens, 20);
    let server = server(vec![
        counted(Reply::text_and_calls(HOSTILE, create), 100),
        counted(Reply::calls([update(1, "inprogress")]), 200),
        counted(list(), 300),
        counted(Reply::text_and_calls("", [("ReadFile", json!({"path": HOSTILE}))]), 400),
        counted(Reply::calls([update(1, "completed"), update(99, "completed")]), 500),
        counted(list(), 600),
        counted(list(), 700),
        counted(Reply::text("done"), 800),
        Reply::error(400, json!({"error": {"message": HOSTILE}})),
    ])
    .await;
    let flags = ["--inactivity", "2", "--cooldown", "2", "--reminder", "system", "--instructions", "be <b>brief</b>"];
    place.chat(&server, &flags).args(&["-p", "go </script>", "-p", "fail", "--keep-going"]).run().ended(1);
    (place, server)
}

fn report(place: &Place, flags: &[&str]) -> crate::place::Ran {
    let session = place.session();
    place.bare(&["report", "--session", session.to_str().unwrap()]).args(flags).run()
}

/// Where playwright-core and axe-core are, once `tests/report/setup.sh` has run.
fn browser() -> Option<std::path::PathBuf> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/report");
    let chromium = std::env::var_os("CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let node = Command::new("node").arg("--version").output().is_ok_and(|node| node.status.success());
    if node && modules.join("node_modules/axe-core").is_dir() && Path::new(&chromium).exists() {
        return Some(modules);
    }
    assert!(std::env::var_os("INSOMNIA_TESTS_REQUIRE_ALL").is_none(), "chromium, node or target/report is missing");
    eprintln!("skipped: needs chromium, node and examples/tests/report/setup.sh");
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_hostile_session_in_a_browser() {
    let Some(modules) = browser() else { return };
    let (place, _server) = hostile_session().await;
    report(&place, &["-o", "report.html"]).ended(0).told(&["wrote report.html"]);
    let expected = json!({
        "requests": 8, "tasks": 3, "reminders": 2, "answered": 1,
        "filtered": {"prompts": 2, "reminders": 3, "tasks": 6, "errors": 3},
        "texts": [SHOWN, "go </script>", "be <b>brief</b>", "Turn 2 has no answer yet"],
    });
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/check.mjs");
    let page = place.path("work/report.html");
    let checked = Command::new("node").arg(check).arg(modules).arg(page).arg(expected.to_string()).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_page_goes_to_stdout_and_the_picture_alone_is_xml() {
    let (place, _server) = hostile_session().await;
    let page = report(&place, &[]).ended(0).stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"));
    let picture = report(&place, &["--svg"]).ended(0).stdout;
    assert!(picture.starts_with("<?xml") && picture.trim_end().ends_with("</svg>"));
    assert!(
        !picture.contains("<script") && picture.contains("&lt;script&gt;") && !picture.contains("<a "),
        "{picture}"
    );
    assert!(!picture.contains(|c: char| c.is_control() && c != '\n') && !picture.contains('\u{202e}'));
}

#[test]
fn what_goes_wrong_has_its_code() {
    let place = Place::new();
    report(&place, &[]).ended(3).told(&["no session in"]);
    place.bare(&["report"]).run().ended(2).told(&["--session"]);
    FileStore::create(&place.session(), &Header::new(None), &[]).unwrap();
    report(&place, &["-o", "absent/report.html"]).ended(1).told(&["cannot write `absent/report.html`"]);
    assert!(report(&place, &[]).ended(0).stdout.contains("No task"));
    assert!(report(&place, &["-o", "-"]).ended(0).stdout.contains("No task"));
}

#[cfg(unix)]
#[test]
fn a_new_page_is_private_and_an_old_one_stays_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    FileStore::create(&place.session(), &Header::new(None), &[]).unwrap();
    let page = place.path("work/report.html");
    let mode = || fs::metadata(&page).unwrap().permissions().mode() & 0o777;
    report(&place, &["-o", "report.html"]).ended(0);
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&page, fs::Permissions::from_mode(0o644)).unwrap();
    report(&place, &["-o", "report.html"]).ended(0);
    assert_eq!(mode(), 0o644);
}

#[test]
fn five_thousand_requests_stay_below_five_megabytes() {
    let place = Place::new();
    FileStore::create(&place.session(), &Header::new(None), &long_session(5_000, 1)).unwrap();
    let begin = std::time::Instant::now();
    report(&place, &["-o", "report.html"]).ended(0);
    let took = begin.elapsed();
    let size = fs::metadata(place.path("work/report.html")).unwrap().len();
    eprintln!("5,000 requests: a page of {} KB in {} ms", size / 1_000, took.as_millis());
    assert!((500_000..5_000_000).contains(&size), "{size} bytes");
    // a build for debugging takes ten times as long
    assert!(cfg!(debug_assertions) || took < std::time::Duration::from_secs(1), "{took:?}");
    let picture = report(&place, &["--svg"]).ended(0).stdout;
    assert!(picture.len() < 1_000_000, "{} bytes", picture.len());
}

#[test]
fn nor_do_those_with_three_calls_each() {
    let place = Place::new();
    FileStore::create(&place.session(), &Header::new(None), &long_session(5_000, 3)).unwrap();
    report(&place, &["-o", "report.html"]).ended(0);
    let size = fs::metadata(place.path("work/report.html")).unwrap().len();
    assert!(size < 5_000_000, "{size} bytes");
}

/// Every request calls a tool so often, whose result has 2 KB and now and then 100 KB; every 20th one changes a task.
fn long_session(requests: u64, calls: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut push = |turn, item| {
        let seq = entries.len() as u64 + 1;
        let usage =
            serde_json::from_value(json!({"prompt_tokens": 500 + seq * 7 % 90_000, "completion_tokens": 40})).unwrap();
        entries.push(Entry { usage: Some(usage), ..Entry::new(seq, turn, EntryBody::Item(item)) });
    };
    for number in 0..requests {
        let (turn, task) = (number / 50 + 1, number / 40 + 1);
        if number % 50 == 0 {
            push(turn, Item::user_message(format!("Prompt {turn}: go on with the work & report <what> you find")));
        }
        if number % 40 == 30 {
            push(turn, Item::task_reminder("<system-reminder>Open tasks</system-reminder>"));
        }
        let (name, arguments, result) = match number % 40 {
            0 => (
                "TaskCreate",
                json!({"subject": format!("Task {task}")}),
                json!({"taskid": task, "status": "pending", "subject": format!("Task {task}")}).to_string(),
            ),
            20 => (
                "TaskUpdate",
                json!({"taskid": task, "status": "inprogress"}),
                json!({"taskid": task, "status": "inprogress"}).to_string(),
            ),
            35 => (
                "TaskUpdate",
                json!({"taskid": task, "status": "completed"}),
                json!({"taskid": task, "status": "completed"}).to_string(),
            ),
            7 => ("ReadFile", json!({"path": "src/large.rs"}), "fn main() { \"<&>\" }\n".repeat(5_000)),
            _ => ("ReadFile", json!({"path": "src/main.rs"}), "fn main() { \"<&>\" }\n".repeat(100)),
        };
        let ids: Vec<_> = (0..calls).map(|call| format!("call_{number}_{call}")).collect();
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = |id| json!({"id": id, "type": "function", "function": function});
        let calls: Vec<_> = ids.iter().map(call).collect();
        let message = json!({"role": "assistant", "content": "I look into the next file.", "tool_calls": calls});
        push(turn, Item::from_message(&message).unwrap());
        ids.into_iter().for_each(|id| push(turn, Item::tool_message(id, result.as_str())));
    }
    entries
}
