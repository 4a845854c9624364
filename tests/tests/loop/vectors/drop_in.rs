use async_openai::types::chat::{
    ChatCompletionRequestMessage as Message, ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs,
};
use futures_util::{StreamExt, stream};
use insomnia_tasks::{HostMessage, Item, Tasks, wire::LateSystem};
use insomnia_tasks_examples::scripted::ScriptedServer;
use insomnia_tasks_tests::Case;
use serde_json::{Value, json};

use super::check;
use crate::support::{client, http};

#[tokio::test]
async fn every_case_in_a_loop_of_json_messages_resumed_at_every_other_turn() {
    each_case(|case, placement| async move { run(&Json, case, placement).await }).await;
}

#[tokio::test]
async fn every_case_in_a_loop_of_typed_messages_resumed_at_every_other_turn() {
    each_case(|case, placement| async move { run(&Typed, case, placement).await }).await;
}

async fn each_case<R: Future<Output = ()>>(run: impl Fn(Case, LateSystem) -> R) {
    let placements = [LateSystem::System, LateSystem::Merge, LateSystem::User, LateSystem::Developer];
    let cases = Case::all().into_iter().zip(placements.into_iter().cycle());
    stream::iter(cases).for_each_concurrent(2, |(case, placement)| run(case, placement)).await;
}

/// A host's message type and how the host sends it.
trait Host {
    type Message: HostMessage + Clone + serde::Serialize;

    fn user(&self, prompt: &str) -> Self::Message;

    /// The assistant message, or none where the server refuses.
    async fn ask(&self, server: &ScriptedServer, messages: &[Self::Message], tasks: &Tasks) -> Option<Self::Message>;
}

/// What an existing loop does, with the three calls in it.
async fn run<H: Host>(host: &H, case: Case, placement: LateSystem) {
    let server = ScriptedServer::start(case.replies()).await.unwrap();
    let mut tasks = Tasks::new(case.cadence(), placement);
    let mut messages: Vec<H::Message> = Vec::new();
    for (number, turn) in case.turns.iter().enumerate() {
        let resumed = Tasks::new(case.cadence(), placement);
        resumed.resume(&messages).unwrap();
        assert_eq!(resumed.store().snapshot(), tasks.store().snapshot(), "{} {placement}", case.name);
        assert_eq!(resumed.reminders().state(), tasks.reminders().state(), "{} {placement}", case.name);
        if number % 2 == 1 {
            tasks = resumed;
        }
        messages.push(host.user(&format!("prompt {number}")));
        let answered = loop {
            tasks.before_request(&mut messages);
            let Some(message) = host.ask(&server, &messages, &tasks).await else { break false };
            let answered = tasks.answered(&message).unwrap();
            assert!(answered.others.is_empty());
            messages.push(message);
            if answered.items().is_empty() {
                break true;
            }
            messages.extend(answered.results::<H::Message>());
        };
        assert_eq!(answered, !Case::fails(turn));
    }
    check(&case, &server.requests());
}

struct Json;

impl Host for Json {
    type Message = Value;

    fn user(&self, prompt: &str) -> Value {
        json!({"role": "user", "content": prompt})
    }

    async fn ask(&self, server: &ScriptedServer, messages: &[Value], tasks: &Tasks) -> Option<Value> {
        let tools: Vec<Value> =
            tasks.definitions().iter().map(|tool| serde_json::from_str(tool.raw().get()).unwrap()).collect();
        let body = json!({"model": "scripted", "messages": messages, "tools": tools});
        let url = format!("{}/chat/completions", server.base_url());
        let response = http().post(url).body(body.to_string()).send().await.unwrap();
        let reply: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        reply.pointer("/choices/0/message").cloned()
    }
}

struct Typed;

impl Host for Typed {
    type Message = Message;

    fn user(&self, prompt: &str) -> Message {
        ChatCompletionRequestUserMessage::from(prompt).into()
    }

    async fn ask(&self, server: &ScriptedServer, messages: &[Message], tasks: &Tasks) -> Option<Message> {
        let request = CreateChatCompletionRequestArgs::default()
            .model("scripted")
            .messages(messages)
            .tools(tasks.chat_tools().unwrap())
            .build()
            .unwrap();
        let reply = client(server).chat().create(request).await.ok()?;
        let message = Item::from_message(&reply.choices[0].message).unwrap();
        Some(Message::try_from(&message).unwrap())
    }
}
