//! Chat completions in async-openai's types.

use std::path::Path;

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{ChatCompletionRequestMessage as Message, CreateChatCompletionRequestArgs},
};
use insomnia_tasks::{HostMessage, Item, Tasks};

use crate::{Error, file};

/// One turn: from a prompt to the answer that calls no tool. `tasks` are new ones; they are filled from the history.
///
/// # Errors
/// If a request fails or the file cannot be read or written. The history is as it was last sent.
pub async fn turn(
    client: &Client<OpenAIConfig>,
    model: &str,
    tasks: Tasks,
    history: &Path,
    prompt: &str,
) -> Result<String, Error> {
    let mut messages: Vec<Message> = file::read(history)?;
    tasks.resume(&messages)?;
    messages.push(Message::User(prompt.into()));
    loop {
        tasks.before_request(&mut messages);
        file::write(history, &messages)?;
        let request = CreateChatCompletionRequestArgs::default()
            .model(model)
            .messages(messages.clone())
            .tools(tasks.chat_tools()?)
            .build()?;
        let response = client.chat().create(request).await?;
        let message = response.choices.into_iter().next().ok_or("the reply has no choices")?.message;

        let answered = tasks.answered(&message)?;
        messages.push(serde_json::from_value(serde_json::to_value(&message)?)?);
        messages.extend(answered.results::<Message>());
        for call in &answered.others {
            let result = Item::tool_message(&call.id, format!("there is no tool {}", call.name));
            messages.extend(Message::from_item(&result));
        }
        if message.tool_calls.is_none_or(|calls| calls.is_empty()) {
            file::write(history, &messages)?;
            return Ok(message.content.unwrap_or_default());
        }
    }
}
