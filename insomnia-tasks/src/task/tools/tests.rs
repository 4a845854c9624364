use super::{TaskToolbox, is_task_tool};
use crate::{
    Toolbox,
    reminder::{TASKS_SHOWN, reminder_text},
    task::TaskStore,
};

fn call(tasks: &TaskStore, name: &str, arguments: &str) -> Result<String, String> {
    let decoded = TaskToolbox::decode(name, arguments).map_err(|error| error.to_string())?;
    decoded.apply(tasks).map_err(|error| error.to_string())
}

fn three_tasks() -> TaskStore {
    let tasks = TaskStore::new();
    for subject in ["one", "two", "three"] {
        call(&tasks, "TaskCreate", &format!(r#"{{"subject":"{subject}","description":"d"}}"#)).unwrap();
    }
    tasks
}

#[test]
fn results_are_compact_and_show_no_list_after_a_change() {
    let tasks = TaskStore::new();
    let created = call(&tasks, "TaskCreate", r#"{"subject":"one","description":"long"}"#);
    assert_eq!(created.as_deref(), Ok(r#"{"taskid":1,"status":"pending","subject":"one"}"#));
    let updated = call(&tasks, "TaskUpdate", r#"{"taskid":1,"status":"inprogress"}"#);
    assert_eq!(updated.as_deref(), Ok(r#"{"taskid":1,"status":"inprogress","subject":"one"}"#));
    let got = call(&tasks, "TaskGet", r#"{"taskid":1}"#);
    assert_eq!(got.as_deref(), Ok(r#"{"taskid":1,"status":"inprogress","subject":"one","description":"long"}"#));
    let listed = call(&tasks, "TaskList", "");
    assert_eq!(
        listed.as_deref(),
        Ok(
            r#"{"tasks":[{"taskid":1,"status":"inprogress","subject":"one"}],"counts":{"pending":0,"inprogress":1,"completed":0,"deleted":0}}"#
        )
    );
}

#[test]
fn reads_what_models_write() {
    let tasks = three_tasks();
    for arguments in [
        r##"{"taskid":"#3","status":"in_progress"}"##,
        r#"{"taskid":3.0,"status":"In-Progress","subject":null,"description":null,"why":"x"}"#,
        r#"{"taskid":"3","status":"done"}"#,
        r#""{\"taskid\":3,\"status\":\"todo\"}""#,
    ] {
        let changed = call(&tasks, "TaskUpdate", arguments).unwrap();
        assert!(changed.starts_with(r#"{"taskid":3,"#), "{changed}");
    }
    for nothing in ["", "null", "{}", r#"{"status":null}"#] {
        assert!(call(&tasks, "TaskList", nothing).unwrap().contains(r#""three""#), "{nothing}");
    }
    assert!(call(&tasks, "TaskCreate", r#"{"subject":"no description"}"#).is_ok());
}

#[test]
fn errors_tell_what_to_do_and_change_nothing() {
    let tasks = three_tasks();
    let before = tasks.snapshot();
    for (name, arguments, told) in [
        ("TaskUpdate", r#"{"taskid":9,"status":"done"}"#, "active: 1, 2, 3"),
        ("TaskGet", r#"{"taskid":9}"#, "active: 1, 2, 3"),
        ("TaskUpdate", r#"{"taskid":1,"status":"blocked"}"#, "pending, inprogress, completed or deleted"),
        ("TaskUpdate", r#"{"taskid":"first","status":"done"}"#, "whole number"),
        ("TaskUpdate", r#"{"taskid":1}"#, "at least one of status, subject and description"),
        ("TaskUpdate", r#"{"status":"done"}"#, "taskid"),
        ("TaskCreate", r#"{"subject":" ","description":""}"#, "empty"),
        ("TaskCreate", r#"{"description":""}"#, "subject"),
        ("TaskList", r#"{"status":"all"}"#, "pending, inprogress, completed or deleted"),
        ("TaskDelete", "{}", "TaskUpdate"),
    ] {
        let error = call(&tasks, name, arguments).unwrap_err();
        assert!(error.contains(told), "{name} {arguments}: {error}");
    }
    let long = format!(r#"{{"subject":"{}","description":""}}"#, "x".repeat(1_001));
    assert!(call(&tasks, "TaskCreate", &long).unwrap_err().contains("1000"));
    let long = format!(r#"{{"subject":"x","description":"{}"}}"#, "x".repeat(16_385));
    assert!(call(&tasks, "TaskCreate", &long).unwrap_err().contains("16384"));
    assert_eq!(tasks.snapshot(), before);
}

#[test]
fn definitions_and_reminders_stay_cheap() {
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let tokens = |text: &str| tokenizer.encode_ordinary(text).len();
    let definitions = TaskToolbox::definitions();
    assert!(definitions.iter().all(|tool| is_task_tool(tool.name())));
    let cost = tokens(&serde_json::to_string(&definitions).unwrap());
    assert!(cost <= 350, "{cost} tokens");

    for (count, most) in [(5, 110), (175, 250)] {
        let tasks = TaskStore::new();
        for number in 1..=count {
            tasks.create(format!("Port module {number} to the new interface"), "").unwrap();
        }
        let text = reminder_text(&tasks.active(TASKS_SHOWN), tasks.counts());
        assert!(tokens(&text) <= most, "{count} tasks: {} tokens\n{text}", tokens(&text));
        assert!(text.len() <= 1_000);
    }
}
