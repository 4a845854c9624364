//! The three calls in a loop of the host, beyond the reminder's worked cases.

use insomnia_tasks::{
    Item, Tasks,
    reminder::{Cadence, Decision, Quiet},
    task::TaskStatus,
    wire::LateSystem,
};
use serde_json::{Value, json};

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

fn answer(calls: Vec<Value>) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn tasks() -> Tasks {
    Tasks::new(Cadence::new(1, 2).unwrap(), LateSystem::Merge)
}

#[test]
fn calls_of_other_tools_are_left_to_the_host() {
    let tasks = tasks();
    let calls = vec![
        call("a", "ReadFile", json!({"path": "x"})),
        call("b", "TaskCreate", json!({"subject": "one", "description": ""})),
        call("c", "TaskUpdate", json!({"taskid": 1, "status": "doing"})),
        call("d", "TaskUpdate", json!({"taskid": 9, "status": "done"})),
    ];
    let answered = tasks.answered(&answer(calls)).unwrap();
    assert_eq!(answered.others.iter().map(|call| (&*call.id, &*call.name)).collect::<Vec<_>>(), [("a", "ReadFile")]);
    let results: Vec<Value> = answered.results();
    assert_eq!(
        results,
        [
            json!({"role": "tool", "tool_call_id": "b", "content": r#"{"taskid":1,"status":"pending","subject":"one"}"#}),
            json!({"role": "tool", "tool_call_id": "c", "content": r#"{"taskid":1,"status":"inprogress","subject":"one"}"#}),
            json!({"role": "tool", "tool_call_id": "d", "content": "error: there is no task 9; active: 1"}),
        ]
    );
    assert!(tasks.answered(&json!({"role": "robot"})).is_err());
    assert_eq!(tasks.reminders().state().requests_since_last_task_management, 0);
}

#[test]
fn a_reminder_is_merged_into_the_message_before_it_or_appended() {
    for (placement, last) in [
        (LateSystem::Merge, "user"),
        (LateSystem::User, "user"),
        (LateSystem::System, "system"),
        (LateSystem::Developer, "developer"),
    ] {
        let tasks = Tasks::new(Cadence::new(1, 1).unwrap(), placement);
        tasks.store().create("one", "").unwrap();
        let mut messages = vec![json!({"role": "user", "content": "hi"})];
        assert_eq!(
            tasks.before_request(&mut messages),
            Decision::Quiet(Quiet::UsedRecently { requests_ago: 0 }),
            "{placement}"
        );
        tasks.answered(&json!({"role": "assistant", "content": "hello"})).unwrap();
        messages.extend([json!({"role": "assistant", "content": "hello"}), json!({"role": "user", "content": "go"})]);
        assert!(matches!(tasks.before_request(&mut messages), Decision::Remind { .. }));
        assert_eq!(messages.len(), if placement == LateSystem::Merge { 3 } else { 4 });
        assert_eq!(messages.last().unwrap()["role"], last);
        let text = messages.last().unwrap()["content"].as_str().unwrap();
        assert!(text.ends_with("</system-reminder>") && text.contains("- 1 [pending] one"), "{text}");
        // the cooldown has begun, so a retry that asks again gets no second one
        assert_eq!(tasks.before_request(&mut messages), Decision::Quiet(Quiet::CoolingDown { requests_ago: 0 }));
    }
}

#[test]
fn a_reminder_that_the_model_quotes_is_none_after_a_resume() {
    let live = tasks();
    let mut messages = vec![json!({"role": "user", "content": "hi"})];
    let mut take = |message: Value| {
        let answered = live.answered(&message).unwrap();
        messages.push(message);
        messages.extend(answered.results::<Value>());
        live.before_request(&mut messages)
    };
    take(answer(vec![call("a", "TaskCreate", json!({"subject": "one", "description": ""}))]));
    let Decision::Remind { .. } = take(answer(vec![call("b", "TaskList", json!({}))])) else { panic!() };
    let quoted = messages.last().unwrap()["content"].as_str().unwrap().split("\n\n").last().unwrap().to_owned();
    let message = json!({"role": "assistant", "content": format!("You said:\n\n{quoted}")});
    live.answered(&message).unwrap();
    messages.push(message);
    let resumed = tasks();
    resumed.resume(&messages).unwrap();
    assert_eq!(resumed.reminders().state(), live.reminders().state());
    assert_eq!(resumed.store().snapshot(), live.store().snapshot());
}

#[test]
fn a_host_may_place_the_item_itself() {
    let tasks = tasks();
    let task = tasks.store().create("one", "").unwrap();
    assert_eq!(tasks.pending_history_append().1, None);
    tasks.answered(&json!({"role": "assistant", "content": "."})).unwrap();
    let (decision, item) = tasks.pending_history_append();
    assert!(matches!(decision, Decision::Remind { .. }) && item.as_ref().is_some_and(Item::is_task_reminder));
    tasks.store().update(task.taskid, TaskStatus::Completed).unwrap();
    assert_eq!(tasks.pending_history_append(), (Decision::Quiet(Quiet::NoActiveTask), None));
}
