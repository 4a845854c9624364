//! An existing, plain async-openai loop with tasks and reminders in it: the three lines with a number are new.

use std::{env, error::Error};

use async_openai::{
    Client,
    config::Config,
    types::chat::{
        ChatCompletionRequestMessage as Message, ChatCompletionRequestUserMessage, ChatCompletionTools,
        CreateChatCompletionRequestArgs,
    },
};
use insomnia_tasks::{HostMessage, Item, Tasks};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new();
    let model = env::var("OPENAI_MODEL").unwrap_or_else(|_| "gpt-5-mini".to_owned());
    let tasks = Tasks::for_server(client.config().api_base(), &model);
    let tools: Vec<ChatCompletionTools> = tasks.chat_tools()?; // 1: definitions for the request
    let mut messages: Vec<Message> = Vec::new();

    for prompt in env::args().skip(1) {
        messages.push(ChatCompletionRequestUserMessage::from(prompt).into());
        loop {
            tasks.before_request(&mut messages); // 2: a reminder, when one is due
            let request = CreateChatCompletionRequestArgs::default()
                .model(&model)
                .messages(messages.clone())
                .tools(tools.clone())
                .build()?;
            let response = client.chat().create(request).await?;
            let message = response.choices.into_iter().next().ok_or("the reply has no choices")?.message;

            let answered = tasks.answered(&message)?; // 3: what the model answered
            messages.push(serde_json::from_value(serde_json::to_value(&message)?)?);
            messages.extend(answered.results::<Message>());
            for call in &answered.others {
                let result = Item::tool_message(&call.id, format!("there is no tool {}", call.name));
                messages.extend(Message::from_item(&result));
            }
            if let Some(text) = message.content.filter(|text| !text.is_empty()) {
                println!("{text}");
            }
            if message.tool_calls.is_none_or(|calls| calls.is_empty()) {
                break;
            }
        }
    }
    for task in tasks.store().list() {
        eprintln!("{:>3} {:<10} {}", task.taskid, task.status, task.subject);
    }
    Ok(())
}
