//! A server refuses the form of a request, and the user notices nothing.

use std::{collections::BTreeSet, path::Path};

use insomnia_tasks::{
    Pod, ToolDefinition,
    pod::{PodBuilder, ReminderPlacement},
    reminder::Cadence,
    session::{Entry, EntryBody, FileOptions, FileStore, Storage},
    wire::{Dialect, ErrorDetail, LateSystem},
    worker::{Event, LearnedDialect, WorkerSettings},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::{Value, json, value::to_raw_value};

use super::{Heard, case::cases, client, rules::keeps};

/// What servers say when they refuse a late system message: the cases', and what other templates and gateways say.
fn refusals() -> Vec<Reply> {
    let of_place = |case: &super::case::Case| {
        let rule = case.rule().map(|rule| rule["rule"].as_str().unwrap().to_owned());
        rule.as_deref() == Some("no_system_after_first") && case.refuses()
    };
    let from_cases = cases().into_iter().filter(of_place).map(|case| case.reply().unwrap());
    let said = [
        "System message must be at the beginning.",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got system",
        "invalid params, chat content has invalid message role: system (2013)",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Unexpected message role.",
        "Only user, assistant and tool roles are supported, got system.",
        "Jinja Exception: System message must be at the beginning.",
        "'messages.4' : property 'role' has invalid value",
    ];
    let said = said.into_iter().flat_map(|message| {
        let body = json!({"error": {"message": message, "type": "BadRequestError", "code": 400}});
        let bare = json!({"object": "error", "message": message});
        [Reply::error(400, body.clone()), Reply::error(500, body), Reply::error(422, bare)]
    });
    from_cases.chain(said).collect()
}

#[tokio::test]
async fn a_refused_reminder_is_sent_in_another_form_at_once_and_after_a_resume() {
    let http = reqwest::Client::new();
    let refusals = refusals();
    assert!(refusals.len() > 20);
    for (number, refusal) in refusals.into_iter().enumerate() {
        let stream = number % 2 == 0;
        let folder = tempfile::tempdir().unwrap();
        let start = |server: &ScriptedServer| {
            let pod = Pod::builder(&client(server), "m").http_client(http.clone()).session(folder.path());
            pod.cadence(Cadence::new(1, 1).unwrap()).stream(stream)
        };
        seed(folder.path(), &Dialect::preset("openai").unwrap()).await;
        let server = ScriptedServer::start(refusing(refusal.clone())).await.unwrap();
        let heard = Heard::default();
        let pod = start(&server).build().await.unwrap();
        let turn = pod.run_with("plan it", heard.listener()).await.unwrap();
        assert_eq!((turn.text.as_str(), heard.text().as_str()), ("ok", "ok"));
        let changed =
            |heard: &Heard| heard.events().iter().filter(|event| matches!(event, Event::DialectChanged(_))).count();
        assert_eq!((refused(&server), changed(&heard)), (1, 1), "{refusal:?}");
        let reminded: Vec<_> = server.requests().iter().filter(|request| reminded(request)).map(roles).collect();
        assert!(!reminded.is_empty() && reminded[1..].iter().all(|roles| !roles.contains("system")), "{reminded:?}");
        drop(pod);

        let server = ScriptedServer::start(refusing(refusal)).await.unwrap();
        let pod = start(&server).build().await.unwrap();
        let heard = Heard::default();
        pod.run_with("go on", heard.listener()).await.unwrap();
        assert_eq!((refused(&server), changed(&heard)), (0, 0), "the resumed session starts right");
        assert!(server.requests().iter().any(reminded_late), "the reminder is there");
        drop(pod);
        accepted_elsewhere(folder.path(), &http).await;
    }
}

/// The same file serves a server that wants other ids and no `name`, and one that wants every reasoning back.
async fn accepted_elsewhere(folder: &Path, http: &reqwest::Client) {
    let record = std::fs::read_to_string(folder.join("history.json")).unwrap();
    let records: Vec<Value> = serde_json::from_str(&record).unwrap();
    assert_eq!(
        records.iter().filter(|record| record.get("dialect").is_some_and(|dialect| dialect.is_object())).count(),
        2
    );
    let rules = [
        json!({"rule": "no_system_after_first"}),
        json!({"rule": "no_user_after_tool"}),
        json!({"rule": "roles_alternate"}),
        json!({"rule": "tool_call_id_regex", "regex": "^[a-zA-Z0-9]{9}$"}),
        json!({"rule": "every_call_has_result"}),
    ];
    let strict =
        move |request: &RecordedRequest, _: usize| match rules.iter().find(|rule| !keeps(rule, &request.json())) {
            Some(broken) => Reply::error(400, json!({"message": format!("broken: {broken}")})),
            None => Reply::text("bonjour"),
        };
    let server = ScriptedServer::start(strict).await.unwrap();
    let pod = Pod::builder(&client(&server), "devstral-2512").http_client(http.clone()).session(folder);
    let turn = pod.build().await.unwrap().run("and there?").await.unwrap();
    assert_eq!((turn.text.as_str(), server.requests().len()), ("bonjour", 1));
}

#[tokio::test]
async fn a_fixed_placement_is_kept_and_the_error_says_what_would_work() {
    for form in [LateSystem::System, LateSystem::Developer] {
        let server = ScriptedServer::start(refusing(refusals().swap_remove(0))).await.unwrap();
        let pod = quick(&server).reminder(ReminderPlacement::Fixed(form)).build().await.unwrap();
        let error = pod.run("plan it").await.unwrap_err();
        let model = error.model().unwrap();
        assert!(matches!(model.detail(), Some(ErrorDetail::Placement(_))), "{error}");
        assert!(error.to_string().contains("`--reminder merge`"), "{error}");
        assert_eq!(refused(&server), 1, "no other form is tried");
    }
    // all the rest is still found out
    let nine = json!({"rule": "tool_call_id_regex", "regex": "^[a-zA-Z0-9]{9}$"});
    let refusal =
        Reply::error(400, json!({"message": "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."}));
    let script = script();
    let model = move |request: &RecordedRequest, _: usize| match keeps(&nine, &request.json()) {
        true => script(request),
        false => refusal.clone(),
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let pod = quick(&server).reminder(ReminderPlacement::Fixed(LateSystem::System)).build().await.unwrap();
    pod.run("plan it").await.unwrap();
    assert!(server.requests().iter().any(|request| reminded(request) && roles(request).contains("system")));
}

#[tokio::test]
async fn every_choice_of_a_dialect_can_be_made_by_hand() {
    for form in ["system", "developer", "user", "merge"] {
        let server = ScriptedServer::start(refusing(Reply::text("never"))).await.unwrap();
        let mut settings = WorkerSettings::default();
        settings.dialect = Some(Dialect::preset("openai").unwrap().with_late_system(form.parse().unwrap()));
        let pod = quick(&server).settings(settings).max_requests(6).build().await.unwrap();
        // as a user message it looks like another prompt to the script
        let _ = pod.run("plan it").await;
        let request = server.requests().into_iter().find(reminded).unwrap();
        let role = if form == "merge" { "tool" } else { form };
        assert_eq!(request.messages().last().unwrap()["role"], role, "{form}");
    }
    let server = ScriptedServer::start(refusing(Reply::text("never"))).await.unwrap();
    let mut settings = WorkerSettings::default();
    settings.dialect = Some(Dialect::default().with_strict_schemas(true));
    let mut free = insomnia_tasks::ToolSet::new();
    let any =
        ToolDefinition::new("Free", "Takes anything.", json!({"type": "object", "properties": {"x": true}})).unwrap();
    free.add_fn(any, |_| async { Ok(insomnia_tasks::ToolOutput::new("")) }).unwrap();
    quick(&server).settings(settings).tools(free).build().await.unwrap().run("plan it").await.unwrap();
    let request = server.requests()[0].json();
    assert!(keeps(&json!({"rule": "strict_schema_complete"}), &request));
    let strict: Vec<_> = request["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]).collect();
    assert_eq!(strict.iter().filter(|tool| tool["strict"] == true).count(), 4);
    assert!(strict.iter().any(|tool| tool["name"] == "Free" && tool.get("strict").is_none()));

    let mut settings = WorkerSettings::default();
    settings.dialect = Some(Dialect::default().with_allow_null(true));
    quick(&server).settings(settings).build().await.unwrap().run("plan it").await.unwrap();
    let request = server.requests().last().unwrap().json();
    let list = request["tools"].as_array().unwrap().iter().find(|tool| tool["function"]["name"] == "TaskList").unwrap();
    assert_eq!(list["function"]["parameters"]["properties"]["status"]["type"], json!(["string", "null"]));
    assert_eq!(list["function"]["parameters"].get("additionalProperties"), None);
}

#[tokio::test]
async fn a_server_without_system_messages_gets_none() {
    let rule = json!({"rule": "no_role", "role": "system"});
    let refusal = Reply::error(400, json!({"error": {"message": "System role not supported"}}));
    let script = script();
    let model = move |request: &RecordedRequest, _: usize| match keeps(&rule, &request.json()) {
        true => script(request),
        false => refusal.clone(),
    };
    let server = ScriptedServer::start(model).await.unwrap();
    quick(&server).instructions("Be brief.").build().await.unwrap().run("plan it").await.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[1].messages()[0], json!({"role": "user", "content": "Be brief.\n\nplan it"}));
}

#[tokio::test]
async fn refused_null_content_is_swapped() {
    let text = json!({"rule": "assistant_content_string"});
    let refusal = Reply::error(400, json!({"error": {"message": "invalid message content type: <nil>"}}));
    let script = script();
    let model = move |request: &RecordedRequest, _: usize| match keeps(&text, &request.json()) {
        true => script(request),
        false => refusal.clone(),
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let turn = quick(&server).build().await.unwrap().run("plan it").await.unwrap();
    assert_eq!((turn.text.as_str(), server.requests().len()), ("ok", 4));
}

#[tokio::test]
async fn refused_stream_options_are_left_out() {
    let rule = json!({"rule": "no_param", "param": "stream_options"});
    let refusal = Reply::error(
        400,
        json!({"error": {"message": "Unknown parameter: 'stream_options'.", "param": "stream_options"}}),
    );
    let model = move |request: &RecordedRequest, _: usize| match keeps(&rule, &request.json()) {
        true => Reply::text("ok"),
        false => refusal.clone(),
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    seed(folder.path(), &Dialect::preset("openai").unwrap()).await;
    let pod = quick(&server).session(folder.path()).build().await.unwrap();
    pod.run("hi").await.unwrap();
    pod.run("hi").await.unwrap();
    assert_eq!(server.requests().len(), 3);
    // who asked for it is told
    let mut settings = WorkerSettings::default();
    settings.stream_usage = Some(true);
    let error = quick(&server).settings(settings).build().await.unwrap().run("hi").await.unwrap_err();
    assert_eq!(error.model().unwrap().detail(), Some(ErrorDetail::StreamOptions), "{error}");
}

fn quick(server: &ScriptedServer) -> PodBuilder {
    Pod::builder(&client(server), "m").cadence(Cadence::new(1, 1).unwrap())
}

/// A session that spoke this dialect with the server of the test before.
async fn seed(folder: &Path, dialect: &Dialect) {
    let learned = LearnedDialect::new("http://127.0.0.1/v1", "m", dialect.clone());
    let opened = FileStore::open(folder, FileOptions::new()).unwrap();
    opened.store.append(&Entry::new(opened.session.next_seq, 0, EntryBody::Dialect(to_raw_value(&learned).unwrap())));
    opened.store.flush().await.unwrap();
}

/// Plays a plan, and refuses requests with a system message that is not the first, or with a developer message.
fn refusing(refusal: Reply) -> impl Fn(&RecordedRequest, usize) -> Reply + Send + Sync {
    let script = script();
    move |request, _| {
        let late = roles(request).contains("system") || roles(request).contains("developer");
        if late { refusal.clone() } else { script(request) }
    }
}

/// A task is made, then listed, then the turn ends: the reminder goes with the last request.
fn script() -> impl Fn(&RecordedRequest) -> Reply + Send + Sync {
    |request| {
        let since = request.messages().iter().rev().take_while(|message| message["role"] != "user").count();
        match since {
            0 => Reply::calls([("TaskCreate", json!({"subject": "Tidy up", "description": ""}))]),
            1 | 2 => Reply::calls([("TaskList", json!({}))]),
            _ => Reply::text("ok"),
        }
    }
}

fn refused(server: &ScriptedServer) -> usize {
    let late = |request: &&RecordedRequest| roles(request).contains("system") || roles(request).contains("developer");
    server.requests().iter().filter(late).count()
}

/// The roles after the first message.
fn roles(request: &RecordedRequest) -> BTreeSet<String> {
    request.messages().iter().skip(1).map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

fn reminded(request: &RecordedRequest) -> bool {
    request.text().contains("<system-reminder>")
}

fn reminded_late(request: &RecordedRequest) -> bool {
    reminded(request) && !roles(request).contains("system")
}
