use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionMessageToolCalls, ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CompletionUsage,
        CreateChatCompletionRequest, CreateChatCompletionRequestArgs, FinishReason,
    },
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::raw::{ASK, ASK_STREAM, Answer, Raw};
use crate::scripted::{RecordedRequest, Reply, ScriptedServer};

fn client(server: &ScriptedServer) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_base(server.base_url()).with_api_key("key"))
}

fn request(prompt: &str) -> CreateChatCompletionRequest {
    let message = ChatCompletionRequestUserMessage::from(prompt);
    CreateChatCompletionRequestArgs::default().model("some-model").messages([message.into()]).build().unwrap()
}

/// A streamed answer, put together.
#[derive(Default, Debug)]
struct Streamed {
    text: String,
    calls: Vec<(String, String, String)>,
    finish: Option<FinishReason>,
    usage: Option<CompletionUsage>,
    events: usize,
}

async fn stream(server: &ScriptedServer, mut request: CreateChatCompletionRequest, usage: bool) -> Streamed {
    // async-openai sets it by itself only without its `byot` feature.
    request.stream = Some(true);
    request.stream_options =
        usage.then_some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None });
    let mut events = client(server).chat().create_stream(request).await.unwrap();
    let mut all = Streamed::default();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        all.events += 1;
        all.usage = event.usage.or(all.usage);
        for choice in event.choices {
            all.finish = choice.finish_reason.or(all.finish);
            all.text += &choice.delta.content.unwrap_or_default();
            for call in choice.delta.tool_calls.unwrap_or_default() {
                let function = call.function.unwrap();
                if let Some(id) = call.id {
                    assert_eq!(call.index as usize, all.calls.len());
                    all.calls.push((id, function.name.unwrap(), String::new()));
                }
                all.calls[call.index as usize].2 += &function.arguments.unwrap_or_default();
            }
        }
    }
    all
}

const TEXT: &str = "Grüße, this is a text of more than three words.\n\n日本 ends it.";

fn calls() -> [(&'static str, Value); 3] {
    [
        ("TaskCreate", json!({"subject": "Ä \"quoted\" \\ 日本", "n": 1.5})),
        ("TaskList", json!("")),
        ("Odd", json!("{cut")),
    ]
}

#[tokio::test]
async fn speaks_json() {
    let server = ScriptedServer::start(Reply::text_and_calls(TEXT, calls()).usage(70, 7)).await.unwrap();
    let answer = client(&server).chat().create(request("hi")).await.unwrap();
    assert_eq!((answer.model.as_str(), answer.usage.unwrap().total_tokens), ("some-model", 77));
    let choice = &answer.choices[0];
    assert_eq!(choice.finish_reason, Some(FinishReason::ToolCalls));
    assert_eq!(choice.message.content.as_deref(), Some(TEXT));
    let got = choice.message.tool_calls.as_deref().unwrap().iter().map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => {
            (call.id.as_str(), call.function.name.as_str(), call.function.arguments.clone())
        }
        other => panic!("{other:?}"),
    });
    let got: Vec<_> = got.collect();
    assert_eq!(got[0], ("call_1", "TaskCreate", calls()[0].1.to_string()));
    assert_eq!(got[1], ("call_2", "TaskList", String::new()));
    assert_eq!(got[2], ("call_3", "Odd", "{cut".to_owned()));
}

#[tokio::test]
async fn speaks_streams_however_they_are_cut() {
    let plain = Reply::text_and_calls(TEXT, calls());
    let replies = vec![
        plain.clone(),
        plain.clone().argument_pieces(1),
        plain.clone().chunked(1),
        plain.clone().chunked(7).argument_pieces(1000),
        plain.split_at(vec![1, 5, 300, 301, 999_999]),
    ];
    let count = replies.len();
    let server = ScriptedServer::start(replies).await.unwrap();
    for number in 0..count {
        let all = stream(&server, request("hi"), true).await;
        assert_eq!(all.text, TEXT);
        assert_eq!(all.finish, Some(FinishReason::ToolCalls));
        for ((index, call), (name, arguments)) in all.calls.iter().enumerate().zip(calls()) {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            assert_eq!(*call, (format!("call_{}", number * 3 + index + 1), name.to_owned(), arguments));
        }
        let usage = all.usage.unwrap();
        assert!(usage.prompt_tokens > 10 && usage.completion_tokens > 10, "{usage:?}");
    }
}

#[tokio::test]
async fn streams_the_events_of_openai_in_order() {
    let server = ScriptedServer::start(Reply::text("a b c d")).await.unwrap();
    let all = stream(&server, request("hi"), false).await;
    // role, "a b c ", "d", finish_reason
    assert_eq!((all.events, all.finish, all.usage), (4, Some(FinishReason::Stop), None));

    let reply = Reply::calls([("A", json!({}))]).usage(1, 2).finish_reason("length");
    let server = ScriptedServer::start(reply).await.unwrap();
    let all = stream(&server, request("hi"), false).await;
    // role, head of the call, "{}", finish_reason, usage
    assert_eq!((all.events, all.finish, all.usage.unwrap().total_tokens), (5, Some(FinishReason::Length), 3));
}

#[tokio::test]
async fn reasoning_comes_before_the_text() {
    let server = ScriptedServer::start(Reply::text("out").reasoning("one two three four")).await.unwrap();
    let body = Raw::post(&server, ASK_STREAM).await.rest().await;
    let body = body.chunks().0.into_iter().map(|chunk| String::from_utf8(chunk).unwrap()).collect::<Vec<_>>();
    assert!(body[1].contains(r#""reasoning_content":"one two three ""#), "{}", body[1]);
    assert!(body[2].contains(r#""reasoning_content":"four""#), "{}", body[2]);
    assert!(body[3].contains(r#""content":"out""#), "{}", body[3]);
    assert_eq!(body.last().unwrap(), "data: [DONE]\n\n");
    let body = Raw::post(&server, ASK).await.rest().await;
    let body: Value = serde_json::from_slice(&body.body).unwrap();
    assert_eq!(body["choices"][0]["message"]["reasoning_content"], "one two three four");
}

#[tokio::test]
async fn ids_go_on_where_the_conversation_stands() {
    let server = ScriptedServer::start(Reply::calls([("A", json!({}))])).await.unwrap();
    let earlier =
        json!({"messages": [{"role": "assistant", "tool_calls": [{"id": "call_41"}, {"id": "other"}, {}]}, 7]});
    let id = |answer: Answer| {
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        body["choices"][0]["message"]["tool_calls"][0]["id"].clone()
    };
    let server = &server;
    let ask = |body: String| async move { Raw::post(server, &body).await.rest().await };
    assert_eq!(id(ask(earlier.to_string()).await), "call_42");
    assert_eq!(id(ask("{}".to_owned()).await), "call_43");
}

#[tokio::test]
async fn a_closure_sees_request_and_number() {
    let server = ScriptedServer::start(|request: &RecordedRequest, number: usize| {
        Reply::text(format!("{number} {}", request.messages()[0]["content"]))
    });
    let server = server.await.unwrap();
    for number in 0..2 {
        let answer = client(&server).chat().create(request("x")).await.unwrap();
        assert_eq!(answer.choices[0].message.content, Some(format!("{number} \"x\"")));
    }
}

#[tokio::test]
async fn serves_many_connections_at_once() {
    let server = ScriptedServer::start(|request: &RecordedRequest, _: usize| {
        Reply::text(request.messages()[0]["content"].as_str().unwrap_or("?")).chunked(3)
    });
    let server = server.await.unwrap();
    let asked = (0..40).map(|number| stream(&server, request(&format!("number {number}")), false));
    let answers = futures_util::future::join_all(asked).await;
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer.text, format!("number {number}"));
    }
    assert_eq!(server.requests().len(), 40);
}
