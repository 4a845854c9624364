//! All cases of the file: what is added there runs here.

use std::{collections::HashSet, sync::Arc, time::Duration};

use insomnia_tasks::{
    wire::Dialect,
    worker::{LearnedDialect, Worker, WorkerBuilder},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::timeout};

use super::{
    Heard,
    case::{Case, cases},
    client,
    expect::{check_answer, check_error, is_retryable},
    rules::keeps,
};

/// No case may take longer than this, hanging ones included.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn every_reply_is_read_as_expected() {
    all(
        |case| case.reply().is_some(),
        |case| async move {
            for stream in [false, true] {
                if case.streams() == stream || case.refuses() {
                    reply_is_read(&case, stream, |reply| reply).await;
                }
            }
            if case.streams() {
                reply_is_read(&case, true, |reply| reply.chunked(1)).await;
                reply_is_read(&case, true, |reply| reply.chunked(7)).await;
            }
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rule_of_a_server_is_kept_in_the_end() {
    all(
        |case| case.rule().is_some(),
        |case| async move {
            rule_is_kept(&case, None).await;
            // what was thought of the server before may be wrong, unless it is one that loses messages without a word
            for preset in Dialect::PRESETS.into_iter().filter(|_| case.refuses()) {
                rule_is_kept(&case, Some(preset)).await;
            }
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_parameter_is_named() {
    all(
        |case| case.forbidden_parameter().is_some(),
        |case| async move {
            let (server, mut worker) = demanding(&case, |builder| case.worker(builder, false, true)).await;
            let error = worker.run("go on", &|_| {}).await.unwrap_err();
            let error = error.model().unwrap();
            assert_eq!(error.parameter(), case.forbidden_parameter(), "{}: {error}", case.id());
            assert!(error.to_string().contains(&format!("the parameter `{}`", error.parameter().unwrap())), "{error}");
            assert_eq!(server.requests().len(), 1);
        },
    )
    .await;
}

/// Runs the check on every case at once, and names all that fail.
async fn all<F: Future<Output = ()> + Send + 'static>(wanted: fn(&Case) -> bool, check: fn(Case) -> F) {
    let mut running = JoinSet::new();
    let wanted: Vec<_> = cases().into_iter().filter(wanted).collect();
    assert!(!wanted.is_empty());
    for case in wanted {
        running.spawn(async move {
            let id = case.id().to_owned();
            let ended = tokio::spawn(timeout(LIMIT, check(case))).await;
            matches!(ended, Ok(Ok(()))).then_some(()).ok_or(id)
        });
    }
    let failed: Vec<_> = running.join_all().await.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The server sends the case's reply to the prompt, and `ok` once the conversation has gone on.
async fn reply_is_read(case: &Case, stream: bool, deliver: fn(Reply) -> Reply) {
    let reply = deliver(case.reply().unwrap());
    let model =
        move |request: &RecordedRequest, _: usize| if goes_on(request) { Reply::text("ok") } else { reply.clone() };
    let server = ScriptedServer::start(model).await.unwrap();
    let mut worker = case.worker(Worker::builder(&client(&server), "m"), stream, true).build().unwrap();
    let before = worker.history().len() + 1;
    let heard = Heard::default();
    let ended = worker.run("go on", &heard.listener()).await;
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.clone()).collect();
    match ended {
        Ok(turn) => {
            check_answer(case, &worker.history().to_vec()[before..], bodies.len(), &heard);
            assert_eq!(turn.requests as usize, bodies.len());
        }
        Err(error) => {
            let error = error.model().unwrap();
            check_error(case, error);
            let tries = bodies.len() - bodies.iter().collect::<HashSet<_>>().len() + 1;
            let tried_again = is_retryable(case) && heard.text().is_empty() && error.retry_after().is_none();
            assert_eq!(tries, if tried_again { 3 } else { 1 }, "{}: {error}", case.id());
        }
    }
}

/// The server refuses with the case's body while its rule is broken.
async fn rule_is_kept(case: &Case, thought: Option<&str>) {
    let dialect = thought.map(|preset| Dialect::preset(preset).unwrap());
    let (server, mut worker) = demanding(case, |builder| {
        let builder = case.worker(builder, case.streams(), false);
        match dialect {
            Some(dialect) => builder.learned(LearnedDialect::new("http://127.0.0.1/v1", "m", dialect)),
            None => builder,
        }
    })
    .await;
    let first = worker.run("go on", &|_| {}).await;
    match case.expect()["error_class"].as_str() {
        // the reply is an error whatever was sent; what matters is the next turn
        Some(_) if !case.refuses() => check_error(case, first.unwrap_err().model().unwrap()),
        _ => drop(first.unwrap_or_else(|error| panic!("{} from {thought:?}: {error}", case.id()))),
    }
    worker.run("and on", &|_| {}).await.unwrap_or_else(|error| panic!("{} from {thought:?}: {error}", case.id()));
    let refused = server.requests().iter().filter(|request| !keeps(case.rule().unwrap(), &request.json())).count();
    assert!(refused <= 2, "{} from {thought:?}: {refused} refusals", case.id());
    if !case.refuses() {
        assert_eq!(refused, 0, "{}: what this server loses is never sent", case.id());
    }
}

async fn demanding(case: &Case, build: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> (ScriptedServer, Worker) {
    let (refuses, reply) = (case.refuses(), case.reply());
    let rule = Arc::new(case.rule().unwrap().clone());
    let model = move |request: &RecordedRequest, _: usize| {
        let broken = !keeps(&rule, &request.json());
        let first_turn = request.messages().iter().all(|message| message["content"] != "and on");
        match &reply {
            Some(reply) if refuses && broken => reply.clone(),
            Some(reply) if !refuses && !broken && first_turn && !goes_on(request) => reply.clone(),
            _ if broken => Reply::error(400, json!({"error": {"message": format!("broken: {rule}")}})),
            _ => Reply::text("ok").reasoning("thinking"),
        }
    };
    let server = ScriptedServer::start(model).await.unwrap();
    let worker = build(Worker::builder(&client(&server), "m")).build().unwrap();
    (server, worker)
}

/// Whether the prompt was answered already.
fn goes_on(request: &RecordedRequest) -> bool {
    let messages = request.messages();
    messages
        .iter()
        .rev()
        .take_while(|message| message["role"] != "user")
        .any(|message: &Value| message["role"] == "tool")
}
