//! The four task tools as the model meets them.

use insomnia_tasks::Pod;
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{assert_conversation, pod, sent};

type Call = (&'static str, Value);

/// Turns of one request with these calls each, in one session; what came of the calls.
async fn results(answers: Vec<Vec<Call>>) -> (Vec<String>, Pod) {
    let mut replies: Vec<_> = answers.into_iter().map(Reply::calls).collect();
    replies.push(Reply::text("done"));
    let server = ScriptedServer::start(replies).await.unwrap();
    let pod = pod(&server, true).build().await.unwrap();
    pod.run("go").await.unwrap();
    let requests = server.requests();
    assert_conversation(&requests);
    (sent(requests.last().unwrap()).results(), pod)
}

/// The result of one call after two tasks were created.
async fn result(name: &'static str, arguments: Value) -> String {
    let create = |subject: &str| ("TaskCreate", json!({"subject": subject, "description": "secret details"}));
    let (mut results, _) = results(vec![vec![create("one"), create("two")], vec![(name, arguments)]]).await;
    results.pop().unwrap()
}

#[tokio::test]
async fn ids_are_given_in_the_order_of_the_calls_within_an_answer() {
    let create = |number: usize| ("TaskCreate", json!({"subject": format!("task {number}"), "description": ""}));
    let (results, pod) = results(vec![(1..=6).map(create).collect(), (7..=12).map(create).collect()]).await;
    for (number, result) in (1..).zip(&results) {
        assert_eq!(*result, format!(r#"{{"taskid":{number},"status":"pending","subject":"task {number}"}}"#));
    }
    assert_eq!(pod.tasks().list().len(), 12);
}

#[tokio::test]
async fn one_answer_may_create_a_task_and_change_it() {
    let (results, _) = results(vec![vec![
        ("TaskCreate", json!({"subject": "one", "description": ""})),
        ("TaskUpdate", json!({"taskid": 1, "status": "inprogress"})),
        ("TaskList", json!({})),
    ]])
    .await;
    let task = r#"{"taskid":1,"status":"inprogress","subject":"one"}"#;
    assert_eq!(results[1], task);
    assert_eq!(
        results[2],
        format!(r#"{{"tasks":[{task}],"counts":{{"pending":0,"inprogress":1,"completed":0,"deleted":0}}}}"#)
    );
}

#[tokio::test]
async fn what_models_write_is_understood() {
    let done = r#"{"taskid":2,"status":"completed","subject":"two"}"#;
    let working = r#"{"taskid":2,"status":"inprogress","subject":"two"}"#;
    for (arguments, expected) in [
        (json!({"taskid": "#2", "status": "done"}), done),
        (json!({"taskid": "2", "status": "Completed", "subject": null, "description": null}), done),
        (json!({"taskid": 2.0, "status": "in_progress"}), working),
        (json!({"taskid": 2, "status": "in-progress", "why": "extra", "todos": []}), working),
        (json!({"taskid": 2, "status": "InProgress"}), working),
        (json!({"taskid": 2, "status": "todo"}), r#"{"taskid":2,"status":"pending","subject":"two"}"#),
        (json!({"taskid": 2, "status": null, "subject": "new"}), r#"{"taskid":2,"status":"pending","subject":"new"}"#),
        (json!("```json\n{\"taskid\":2,\"status\":\"done\"}\n```"), done),
        (json!("{}{\"taskid\":2,\"status\":\"done\"}"), done),
        (json!("\"{\\\"taskid\\\":2,\\\"status\\\":\\\"done\\\"}\""), done),
    ] {
        assert_eq!(result("TaskUpdate", arguments.clone()).await, expected, "{arguments}");
    }
    for empty in [json!(""), json!("null"), json!({}), json!({"status": null})] {
        let list = result("TaskList", empty).await;
        assert!(list.starts_with(r#"{"tasks":[{"taskid":1"#), "{list}");
    }
    let task = result("TaskGet", json!({"taskid": " #1 "})).await;
    assert_eq!(task, r#"{"taskid":1,"status":"pending","subject":"one","description":"secret details"}"#);
    let created = result("TaskCreate", json!({"subject": "three", "description": null})).await;
    assert_eq!(created, r#"{"taskid":3,"status":"pending","subject":"three"}"#);
}

#[tokio::test]
async fn every_error_tells_what_to_do() {
    let unknown = "error: there is no task 9; active: 1, 2";
    for (name, arguments, expected) in [
        ("TaskUpdate", json!({"taskid": 9, "status": "done"}), unknown),
        ("TaskGet", json!({"taskid": 9}), unknown),
        ("TaskUpdate", json!({"taskid": 1, "status": "finito"}), "pending, inprogress, completed or deleted"),
        ("TaskList", json!({"status": "all"}), "pending, inprogress, completed or deleted"),
        ("TaskUpdate", json!({"taskid": 1}), "give at least one of status, subject and description"),
        ("TaskUpdate", json!({"status": "done"}), "missing field `taskid`"),
        ("TaskUpdate", json!({"taskid": "first", "status": "done"}), "a taskid is a whole number from 1, such as 3"),
        ("TaskCreate", json!({"subject": " \n", "description": ""}), "say in one line what is to be done"),
        ("TaskCreate", json!({"subject": "x".repeat(1_001)}), "has 1001 bytes; at most 1000 are kept"),
        ("TaskCreate", json!({"subject": "x", "description": "y".repeat(16_385)}), "16385 bytes; at most 16384"),
        ("TaskUpdate", json!({"taskid": 1, "subject": ""}), "the subject is empty"),
    ] {
        let result = result(name, arguments.clone()).await;
        assert!(result.starts_with("error: ") && result.contains(expected), "{arguments}: {result}");
        assert!(result.len() < 1_000, "{result}");
    }
}

#[tokio::test]
async fn nothing_is_stored_on_error() {
    let (_, pod) = results(vec![
        vec![("TaskCreate", json!({"subject": "one", "description": "d"}))],
        vec![
            ("TaskUpdate", json!({"taskid": 1, "status": "done", "subject": "x".repeat(1_001)})),
            ("TaskUpdate", json!({"taskid": 2, "status": "done"})),
            ("TaskCreate", json!({"subject": ""})),
        ],
        vec![("TaskCreate", json!({"subject": "two"}))],
    ])
    .await;
    let tasks: Vec<_> = pod.tasks().list().into_iter().map(|task| (task.taskid.get(), task.subject)).collect();
    assert_eq!(tasks, [(1, "one".to_owned()), (2, "two".to_owned())]);
    assert_eq!(pod.tasks().counts().pending, 2);
}

#[tokio::test]
async fn an_unknown_id_names_at_most_twenty_active_ones() {
    let create = |_| ("TaskCreate", json!({"subject": "more", "description": ""}));
    let (results, _) = results(vec![(0..30).map(create).collect(), vec![("TaskGet", json!({"taskid": 77}))]]).await;
    let ids: Vec<_> = (1..=20).map(|id: u32| id.to_string()).collect();
    assert_eq!(results[30], format!("error: there is no task 77; active: {}", ids.join(", ")));
}

#[tokio::test]
async fn descriptions_are_told_by_task_get_alone() {
    let (results, _) = results(vec![vec![
        ("TaskCreate", json!({"subject": "one", "description": "secret details"})),
        ("TaskUpdate", json!({"taskid": 1, "description": "other details", "status": "inprogress"})),
        ("TaskList", json!({})),
        ("TaskGet", json!({"taskid": 1})),
    ]])
    .await;
    assert!(results[..3].iter().all(|result| !result.contains("details")), "{results:?}");
    assert_eq!(results[3], r#"{"taskid":1,"status":"inprogress","subject":"one","description":"other details"}"#);
}

#[tokio::test]
async fn the_list_has_deleted_tasks_and_counts_and_can_be_narrowed() {
    let update = |id: u64, status: &str| ("TaskUpdate", json!({"taskid": id, "status": status}));
    let create = |_| ("TaskCreate", json!({"subject": "x", "description": ""}));
    let (results, _) = results(vec![
        (0..5).map(create).collect(),
        vec![update(1, "completed"), update(2, "deleted"), update(3, "inprogress"), update(2, "deleted")],
        vec![
            ("TaskList", json!({})),
            ("TaskList", json!({"status": "deleted"})),
            ("TaskList", json!({"status": "open"})),
        ],
    ])
    .await;
    let lists: Vec<Value> = results[9..].iter().map(|list| serde_json::from_str(list).unwrap()).collect();
    let ids = |list: &Value| -> Vec<u64> {
        list["tasks"].as_array().unwrap().iter().map(|task| task["taskid"].as_u64().unwrap()).collect()
    };
    assert_eq!(lists.iter().map(ids).collect::<Vec<_>>(), [vec![1, 2, 3, 4, 5], vec![2], vec![4, 5]]);
    let counts = json!({"pending": 2, "inprogress": 1, "completed": 1, "deleted": 1});
    assert!(lists.iter().all(|list| list["counts"] == counts), "{lists:?}");
}
