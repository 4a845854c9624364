//! Items and async-openai's typed messages.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessageContent, ChatCompletionRequestMessage as Message,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
};
use insomnia_tasks::{Item, ItemKind};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{client, pod};

#[test]
fn typed_messages_become_items_of_their_kind() {
    let user: Message = ChatCompletionRequestUserMessage::from("hi").into();
    let item = Item::try_from(&user).unwrap();
    assert_eq!((item.kind(), item.json()), (ItemKind::User, r#"{"role":"user","content":"hi"}"#));
    let system: Message = ChatCompletionRequestSystemMessage::from("be brief").into();
    assert_eq!(Item::try_from(&system).unwrap().kind(), ItemKind::System);
    assert_eq!(Item::from_message(&user).unwrap(), item);
}

#[test]
fn every_kind_of_message_goes_there_and_back() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "TaskList", "arguments": "{}"}});
    for message in [
        json!({"role": "system", "content": "s"}),
        json!({"role": "developer", "content": "d"}),
        json!({"role": "user", "content": "u", "name": "Ada"}),
        json!({"role": "user", "content": [{"type": "text", "text": "u"}]}),
        json!({"role": "assistant", "content": "a"}),
        json!({"role": "assistant", "content": "a", "tool_calls": [call.clone()]}),
        json!({"role": "assistant", "tool_calls": [call]}),
        json!({"role": "tool", "content": "[]", "tool_call_id": "a"}),
    ] {
        let item = Item::from_message(&message).unwrap();
        let typed = Message::try_from(&item).unwrap();
        let back = Item::try_from(&typed).unwrap();
        assert_eq!(serde_json::from_str::<Value>(back.json()).unwrap(), message);
        assert_eq!(back.kind(), item.kind());
        assert_eq!(
            (back.text(), back.tool_calls(), back.tool_call_id()),
            (item.text(), item.tool_calls(), item.tool_call_id())
        );
    }
}

#[test]
fn reminders_and_notifications_become_system_messages() {
    for item in [Item::task_reminder("r"), Item::notification("n")] {
        let Message::System(_) = Message::try_from(&item).unwrap() else { panic!("{item:?}") };
    }
}

#[tokio::test]
async fn the_history_of_a_session_can_go_on_in_a_typed_loop() {
    let calls = Reply::text_and_calls("I note it.", [("TaskCreate", json!({"subject": "x", "description": ""}))]);
    let server = ScriptedServer::start(vec![calls, Reply::text("done"), Reply::text("more")]).await.unwrap();
    let pod = pod(&server, false).build().await.unwrap();
    pod.run("go").await.unwrap();
    let mut messages: Vec<Message> = pod.history().iter().map(|item| Message::try_from(item).unwrap()).collect();
    let Message::Assistant(last) = &messages[3] else { panic!("{messages:?}") };
    assert!(matches!(&last.content, Some(ChatCompletionRequestAssistantMessageContent::Text(text)) if text == "done"));
    messages.push(ChatCompletionRequestUserMessage::from("and now?").into());
    let request = async_openai::types::chat::CreateChatCompletionRequestArgs::default()
        .model("scripted")
        .messages(messages)
        .build()
        .unwrap();
    let reply = client(&server).chat().create(request).await.unwrap();
    assert_eq!(reply.choices[0].message.content.as_deref(), Some("more"));
    let sent = server.requests()[2].messages();
    assert_eq!(sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]);
}
