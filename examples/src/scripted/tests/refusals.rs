use serde_json::{Value, json};

use super::raw::{ASK, Raw};
use crate::scripted::{Reply, ScriptedServer};

async fn get(server: &ScriptedServer, path: &str) -> (u16, Value) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    parse(Raw::send(server, request.as_bytes()).await).await
}

async fn parse(client: Raw) -> (u16, Value) {
    let answer = client.rest().await;
    (answer.head[9..12].parse().unwrap(), serde_json::from_slice(&answer.body).unwrap())
}

#[tokio::test]
async fn records_exact_bytes_and_headers() {
    let server = ScriptedServer::start(Reply::text("a")).await.unwrap();
    let body = "{ \"messages\" : [ ],\t\"x\":1.50, \"s\":\"\\u00fc\" }\n";
    Raw::post(&server, body).await.rest().await;
    Raw::post(&server, "no json \u{fc}").await.rest().await;
    let requests = server.wait_for_requests(2).await;
    assert_eq!(requests[0].body, body.as_bytes());
    assert_eq!(requests[0].header("x-odd"), Some("A  b"));
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(requests[1].text(), "no json ü");
    assert!(requests[1].messages().is_empty() && requests[1].tool_names().is_empty() && !requests[1].wants_stream());
}

#[tokio::test]
async fn a_wrong_key_gets_openais_401_and_is_recorded() {
    let server = ScriptedServer::start_with_key(vec![Reply::text("in")], "right-key").await.unwrap();
    for (key, status) in [(Some("wrong-key"), 401), (None, 401), (Some("right-key"), 200)] {
        let url = format!("{}/chat/completions", server.base_url());
        let mut request = reqwest::Client::new().post(url).body(ASK);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        let body: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        if status == 401 {
            assert_eq!(body["error"]["code"], "invalid_api_key");
        }
    }
    assert_eq!(server.requests().len(), 3);
    assert!(!format!("{:?}", server.requests()).contains("-key"));
}

#[tokio::test]
async fn knows_its_paths() {
    let server = ScriptedServer::start(Reply::text("a")).await.unwrap();
    assert_eq!(get(&server, "/v1/models").await.1["data"][0]["object"], "model");
    assert_eq!(get(&server, "/v1/chat/completions?x=1").await.0, 405);
    assert_eq!(get(&server, "/v1/other").await.1["error"]["code"], "unknown_url");
    assert_eq!(get(&server, "/").await.0, 404);
}

#[tokio::test]
async fn odd_requests_do_no_harm() {
    let server = ScriptedServer::start(Reply::calls([("A", json!({}))])).await.unwrap();
    for body in ["", "[]", "null", "{\"messages\":7", "\"\\ud800\""] {
        assert_eq!(parse(Raw::post(&server, body).await).await.0, 400, "{body}");
    }
    for body in [r#"{"messages":{"a":1},"tools":[1,{}],"stream":"yes"}"#, r#"{"messages":[{"tool_calls":"x"}]}"#] {
        assert_eq!(parse(Raw::post(&server, body).await).await.0, 200, "{body}");
    }
    let garbage = Raw::send(&server, b"\x16\x03\x01 no http at all\r\n\r\n").await.rest().await;
    assert!(garbage.head.starts_with("http/1.1 400"), "{}", garbage.head);
    assert_eq!(get(&server, "/v1/models").await.0, 200);
}

#[tokio::test]
async fn replies_of_any_kind() {
    let server = ScriptedServer::start(vec![
        Reply::error(429, json!({"error": {"message": "slow", "code": 429}})).header("Retry-After", "2"),
        Reply::raw(503, b"<html>\xff".to_vec()).header("content-type", "text/html"),
        Reply::text("odd").header("Content-Type", "text/plain"),
        Reply::text("x").header("a b", "c"),
    ]);
    let server = server.await.unwrap();
    let limited = Raw::post(&server, ASK).await.rest().await;
    assert!(limited.head.starts_with("http/1.1 429") && limited.head.contains("\r\nretry-after: 2\r\n"));
    assert_eq!(limited.body, br#"{"error":{"message":"slow","code":429}}"#);
    let html = Raw::post(&server, ASK).await.rest().await;
    assert!(html.head.starts_with("http/1.1 503") && html.head.contains("\r\ncontent-type: text/html\r\n"));
    assert_eq!(html.body, b"<html>\xff");
    let odd = Raw::post(&server, ASK).await.rest().await;
    assert_eq!(odd.head.matches("content-type").count(), 1);
    for problem in ["the script's reply is no HTTP", "the script has 4 replies and this is request 5"] {
        let answer = Raw::post(&server, ASK).await.rest().await;
        assert!(answer.head.starts_with("http/1.1 500"), "{}", answer.head);
        assert!(String::from_utf8_lossy(&answer.body).contains(problem));
    }
}
