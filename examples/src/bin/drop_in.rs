//! An existing, plain async-openai loop with tasks and reminders in it: the three lines with a number are new.

use std::{env, error::Error};

use async_openai::{
    Client,
    config::{OPENAI_API_BASE, OpenAIConfig},
    types::chat::{ChatCompletionRequestMessage as Message, CreateChatCompletionRequestArgs},
};
use insomnia_tasks::{HostMessage, Item, Tasks};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let set = |name| env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let [key, url, model] = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"].map(set);
    if key.is_none() && url.is_none() || env::args().len() < 2 {
        return Err("usage: drop_in PROMPT... with OPENAI_API_KEY set, or OPENAI_BASE_URL for a local server".into());
    }
    let url = url.as_deref().unwrap_or(OPENAI_API_BASE).trim_end_matches('/');
    let model = model.as_deref().unwrap_or("gpt-5-mini");
    let client = Client::with_config(OpenAIConfig::new().with_api_base(url).with_api_key(key.unwrap_or_default()));
    let tasks = Tasks::for_server(url, model);
    let tools = tasks.chat_tools()?; // 1: definitions for the request
    let mut messages: Vec<Message> = Vec::new();

    for prompt in env::args().skip(1) {
        messages.push(Message::User(prompt.into()));
        loop {
            tasks.before_request(&mut messages); // 2: a reminder, when one is due
            let request = CreateChatCompletionRequestArgs::default()
                .model(model)
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
