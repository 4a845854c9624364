use serde_json::Value;

use crate::place::Place;

#[test]
fn shows_the_whole_cycle_without_key_and_prompt() {
    let place = Place::new();
    let session = place.session();
    let ran = place.bare(&["--session", session.to_str().unwrap()]).run().ended(0);
    let ran = ran.told(&["demo", "script, no language model", "• TaskCreate List the files", "⏰ reminder (about "]);
    assert!(ran.stdout.contains("Tasks 1, 2 and 3 are completed."), "{ran:?}");
    assert!(ran.stdout.ends_with("reminder.\n"), "{ran:?}");
    assert_eq!(ran.stderr.matches("⏰").count(), 1, "{ran:?}");
    assert!(
        ran.stderr.contains("• TaskUpdate 1 · inprogress") && ran.stderr.contains("▶  1 List the files"),
        "{ran:?}"
    );
    // once per answer that changed tasks, not per call
    assert_eq!(ran.stderr.matches(" 1 List the files").count(), 2, "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'));

    let records = place.records();
    let reminders = records.iter().filter(|record| record["kind"] == "task_reminder");
    assert_eq!(reminders.count(), 1);
    let tasks = place.bare(&["tasks", "--session", session.to_str().unwrap()]).run().ended(0);
    let tasks: Vec<Value> = serde_json::from_str(&tasks.stdout).unwrap();
    assert_eq!(tasks.len(), 3);
    assert!(tasks.iter().all(|task| task["status"] == "completed"));
}

#[test]
fn a_prompt_reaches_the_demo_and_it_beats_the_environment() {
    let place = Place::new();
    let program = place.bare(&["--demo", "-p", "Have a look"]).env("OPENAI_API_KEY", "sk-secret");
    let ran = program.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").run().ended(0).told(&["This is the demo"]);
    assert!(ran.stdout.contains("Tasks 1, 2 and 3 are completed."), "{ran:?}");
    assert!(!format!("{ran:?}").contains("sk-secret"));
}

#[test]
fn help_and_version_need_nothing() {
    let place = Place::new();
    let help = place.bare(&["--help"]).run().ended(0);
    for flag in [
        "--prompt",
        "-p",
        "--base-url",
        "--api-key",
        "--model",
        "--instructions",
        "--session",
        "--inactivity",
        "--cooldown",
        "--reminder",
        "--no-stream",
        "--max-requests",
        "--keep-going",
        "--output",
        "--demo",
        "tasks",
        "history",
        "Exit codes",
    ] {
        assert!(help.stdout.contains(flag), "{flag}");
    }
    assert!(place.bare(&["--version"]).run().ended(0).stdout.starts_with("chat 0."));
    assert!(!place.path("home/data").exists());
}
