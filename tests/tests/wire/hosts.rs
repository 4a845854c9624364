//! Servers that lose or refuse late system messages, known by their address or the model's name: none ever gets one.

use std::net::SocketAddr;

use insomnia_tasks::{Pod, reminder::Cadence};
use insomnia_tasks_examples::scripted::{RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use super::client_at;

const PLACES: [(&str, &str); 14] = [
    ("generativelanguage.googleapis.com", "gemini-3-pro"),
    ("us-central1-aiplatform.googleapis.com", "google/gemini-3"),
    ("openrouter.ai", "google/gemini-3-pro"),
    ("api.anthropic.com", "claude-opus-4-6"),
    ("openrouter.ai", "anthropic/claude-sonnet-4.6"),
    ("localhost", "gpt-oss:20b"),
    ("openrouter.ai", "openai/gpt-oss-120b"),
    ("api.groq.com", "openai/gpt-oss-120b"),
    ("api.cerebras.ai", "gpt-oss-120b"),
    ("api.mistral.ai", "devstral-2512"),
    ("api.minimax.io", "MiniMax-M3"),
    ("dashscope-intl.aliyuncs.com", "qwen3-max"),
    ("localhost", "Qwen3.5-35B-A3B"),
    ("localhost", "some-model"),
];

#[tokio::test]
async fn late_system_messages_are_sent_only_where_they_work() {
    for (host, model) in PLACES {
        assert_eq!(
            roles_of_reminded_request(host, model).await,
            ["system", "user", "assistant", "tool"],
            "{host} {model}"
        );
    }
    let openai = roles_of_reminded_request("api.openai.com", "gpt-5").await;
    assert_eq!(openai, ["system", "user", "assistant", "tool", "system"]);
}

/// What the request looks like that carries the first reminder, sent to a server that has this host's name.
async fn roles_of_reminded_request(host: &str, model: &str) -> Vec<String> {
    let server = ScriptedServer::start(vec![create_a_task(), list_tasks(), Reply::text("ok")]).await.unwrap();
    let address: SocketAddr = server.base_url()["http://".len()..].trim_end_matches("/v1").parse().unwrap();
    let http = reqwest::Client::builder().no_proxy().resolve(host, address).build().unwrap();
    let client = client_at(&format!("http://{host}:{}/v1", address.port()));
    let pod = Pod::builder(&client, model).http_client(http).instructions("Be brief.").stream(false);
    let pod = pod.cadence(Cadence::new(1, 1).unwrap()).build().await.unwrap();
    pod.run("plan it").await.unwrap();
    let request = server.requests().swap_remove(2);
    let reminded = request.text().contains("<system-reminder>");
    assert!(reminded, "{}", request.text());
    let roles = roles(&request);
    // the round of the list repeats the one of the creation
    assert_eq!(roles[2..4], roles[4..6]);
    [&roles[..4], &roles[6..]].concat()
}

fn roles(request: &RecordedRequest) -> Vec<String> {
    request.messages().iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

fn create_a_task() -> Reply {
    Reply::calls([("TaskCreate", json!({"subject": "Tidy up", "description": ""}))])
}

fn list_tasks() -> Reply {
    Reply::calls([("TaskList", json!({}))])
}
