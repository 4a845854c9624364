use std::path::Path;

use futures_util::{StreamExt, stream};
use insomnia_tasks::{
    Pod,
    pod::ReminderPlacement,
    wire::{LateSystem, ModelErrorKind},
};
use insomnia_tasks_examples::scripted::{RecordedRequest, ScriptedServer};
use insomnia_tasks_tests::Case;

use super::check;
use crate::support::{folder, pod};

const AUTO: ReminderPlacement = ReminderPlacement::Auto;
const SYSTEM: ReminderPlacement = ReminderPlacement::Fixed(LateSystem::System);
const MERGE: ReminderPlacement = ReminderPlacement::Fixed(LateSystem::Merge);

#[tokio::test]
async fn every_case_streamed_with_a_twin_resumed_between_turns() {
    // what is detected for a loopback server is the merged form
    each_case(|case| resumed_equals_unclosed(case, true, [AUTO, MERGE])).await;
}

#[tokio::test]
async fn every_case_unstreamed_with_a_twin_resumed_between_turns() {
    each_case(|case| resumed_equals_unclosed(case, false, [SYSTEM, SYSTEM])).await;
}

async fn each_case<R: Future<Output = ()>>(run: impl Fn(Case) -> R) {
    let cases = Case::all();
    stream::iter(cases).for_each_concurrent(2, run).await;
}

async fn run(case: &Case, stream: bool, placement: ReminderPlacement) -> Vec<RecordedRequest> {
    let server = ScriptedServer::start(case.replies()).await.unwrap();
    let pod = session(&server, case, stream, placement, None).await;
    for (number, turn) in case.turns.iter().enumerate() {
        take_turn(&pod, number, turn).await;
    }
    let requests = server.requests();
    check(case, &requests);
    requests
}

/// The session in a folder is closed after each turn, and its twin is not. Both send the same bytes.
async fn resumed_equals_unclosed(case: Case, stream: bool, placements: [ReminderPlacement; 2]) {
    let folder = folder();
    let server = ScriptedServer::start(case.replies()).await.unwrap();
    for (number, turn) in case.turns.iter().enumerate() {
        let pod = session(&server, &case, stream, placements[0], Some(folder.path())).await;
        take_turn(&pod, number, turn).await;
    }
    let requests = server.requests();
    check(&case, &requests);
    let twin = run(&case, stream, placements[1]).await;
    assert_eq!(requests.len(), twin.len());
    for (resumed, unclosed) in requests.iter().zip(&twin) {
        assert_eq!(resumed.text(), unclosed.text(), "{}", case.name);
    }
}

async fn session(
    server: &ScriptedServer,
    case: &Case,
    stream: bool,
    placement: ReminderPlacement,
    folder: Option<&Path>,
) -> Pod {
    let mut builder = pod(server, stream).instructions("Work.").cadence(case.cadence()).reminder(placement);
    if let Some(folder) = folder {
        builder = builder.session(folder);
    }
    builder.build().await.unwrap()
}

async fn take_turn(pod: &Pod, number: usize, turn: &[String]) {
    let outcome = pod.run(format!("prompt {number}")).await;
    if Case::fails(turn) {
        let error = outcome.unwrap_err();
        assert_eq!(error.model().map(|error| error.kind()), Some(ModelErrorKind::InvalidRequest), "{error}");
    } else {
        assert_eq!(outcome.unwrap().requests, turn.len() as u64);
    }
}
