use std::time::Duration;

use super::raw::{ASK, ASK_STREAM, Raw};
use crate::scripted::{End, Gate, Reply, ScriptedServer};

async fn server(reply: Reply) -> ScriptedServer {
    ScriptedServer::start(reply).await.unwrap()
}

#[tokio::test]
async fn every_event_is_a_chunk() {
    let server = server(Reply::text("a b c d")).await;
    let answer = Raw::post(&server, ASK_STREAM).await.rest().await;
    assert!(answer.head.contains("content-type: text/event-stream; charset=utf-8\r\n"), "{}", answer.head);
    let (chunks, complete) = answer.chunks();
    assert!(complete);
    assert_eq!(chunks.len(), 5);
    assert!(chunks.iter().all(|chunk| chunk.starts_with(b"data: ") && chunk.ends_with(b"\n\n")));
}

#[tokio::test]
async fn chunks_are_cut_where_the_script_says() {
    for (reply, expected) in [
        (Reply::raw(200, "abcdefg").chunked(3).header("transfer-encoding", "chunked"), vec!["abc", "def", "g"]),
        (
            Reply::raw(200, "abcdefg").split_at(vec![1, 3]).header("transfer-encoding", "chunked"),
            vec!["a", "bc", "defg"],
        ),
    ] {
        let server = server(reply).await;
        let (chunks, complete) = Raw::post(&server, ASK).await.rest().await.chunks();
        assert_eq!(chunks, expected.iter().map(|chunk| chunk.as_bytes()).collect::<Vec<_>>());
        assert!(complete);
    }
}

#[tokio::test]
async fn a_cut_at_every_byte_keeps_the_bytes() {
    let server =
        ScriptedServer::start(vec![Reply::raw(200, "x y ü"), Reply::raw(200, "x y ü").chunked(1)]).await.unwrap();
    for _ in 0..2 {
        let answer = Raw::post(&server, ASK).await.rest().await;
        assert_eq!(answer.body, "x y ü".as_bytes());
        assert!(answer.head.contains("content-length: 6\r\n"), "{}", answer.head);
    }
}

#[tokio::test]
async fn truncation_sends_all_chunks_and_cuts_the_connection() {
    let server = server(Reply::text("a b c d").then(End::Truncate)).await;
    for _ in 0..20 {
        let (chunks, complete) = Raw::post(&server, ASK_STREAM).await.rest().await.chunks();
        assert_eq!((chunks.len(), complete), (5, false));
    }
    let url = format!("{}/chat/completions", server.base_url());
    let mut response = reqwest::Client::new().post(url).body(ASK).send().await.unwrap();
    let error = loop {
        match response.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the cut was taken for an end"),
            Err(error) => break error,
        }
    };
    assert!(error.is_body() || error.is_decode(), "{error:?}");
}

#[tokio::test]
async fn a_held_reply_sends_nothing_before_its_gate_opens() {
    let gate = Gate::new();
    let server = server(Reply::text("late").hold(&gate)).await;
    let mut client = Raw::post(&server, ASK).await;
    server.wait_for_requests(1).await;
    gate.reached().await;
    tokio::select! {
        biased;
        () = yield_often() => {}
        head = client.read_until("\r\n") => panic!("sent {head}"),
    }
    gate.open();
    assert!(client.rest().await.body.ends_with(b"}"));
}

#[tokio::test]
async fn a_held_chunk_comes_after_its_gate_opens() {
    let (first, last) = (Gate::new(), Gate::new());
    let server = server(Reply::raw(200, "onetwo").split_at(vec![3]).hold_chunk(1, &first).hold_chunk(2, &last)).await;
    let mut client = Raw::post(&server, ASK).await;
    assert!(client.read_until("one").await.contains("200 OK"));
    first.reached().await;
    first.open();
    assert_eq!(client.read_until("two").await, "two");
}

#[tokio::test]
async fn the_end_can_be_held_and_can_hang() {
    let gate = Gate::new();
    let server = ScriptedServer::start(vec![Reply::text("a").hold_chunk(4, &gate), Reply::text("a").then(End::Hang)]);
    let server = server.await.unwrap();
    let mut held = Raw::post(&server, ASK_STREAM).await;
    held.read_until("[DONE]\n\n\r\n").await;
    gate.reached().await;
    gate.open();
    held.read_until("0\r\n\r\n").await;

    let mut hanging = Raw::post(&server, ASK_STREAM).await;
    hanging.read_until("[DONE]\n\n\r\n").await;
    tokio::select! {
        biased;
        () = yield_often() => {}
        more = hanging.read_until("\n") => panic!("sent {more}"),
    }
    drop(server);
    assert!(hanging.rest_is_nothing().await);
}

#[tokio::test]
async fn a_client_that_goes_is_noticed() {
    let gate = Gate::new();
    let replies = vec![
        Reply::text("a b c d").hold_chunk(2, &gate),
        Reply::text("a").hold(&gate),
        Reply::text("a").then(End::Hang),
        Reply::text("a"),
    ];
    let server = ScriptedServer::start(replies).await.unwrap();
    for count in 1..=3 {
        let client = Raw::post(&server, ASK_STREAM).await;
        server.wait_for_requests(count).await;
        drop(client);
        server.wait_for_hang_ups(count).await;
    }
    Raw::post(&server, ASK_STREAM).await.rest().await;
    assert_eq!(server.hang_ups(), 3);
}

#[tokio::test(start_paused = true)]
async fn pace_waits_between_chunks_only() {
    let started = tokio::time::Instant::now();
    let server = server(Reply::text("a b c d").pace(Duration::from_secs(60))).await;
    let (chunks, complete) = Raw::post(&server, ASK_STREAM).await.rest().await.chunks();
    assert_eq!((chunks.len(), complete), (5, true));
    assert!(started.elapsed() >= Duration::from_secs(4 * 60));
}

#[tokio::test]
async fn dropping_the_server_closes_its_port() {
    let server = server(Reply::text("a")).await;
    let url = format!("{}/models", server.base_url());
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 200);
    drop(server);
    while reqwest::get(&url).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

/// Gives every other task many turns.
async fn yield_often() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}
