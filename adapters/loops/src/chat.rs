//! Chat completions in async-openai's types.

use async_openai::types::chat::{ChatCompletionRequestMessage as Message, CreateChatCompletionRequestArgs};

use crate::{Agent, Error, file, no_such_tool};

/// One turn: from a prompt to the answer that calls no tool.
///
/// # Errors
/// If a request fails or the file cannot be read or written. The history is as it was last sent.
pub async fn turn(agent: &Agent, prompt: &str) -> Result<String, Error> {
    let mut messages: Vec<Message> = file::read(&agent.history)?;
    agent.tasks.resume(&messages)?;
    messages.push(Message::User(prompt.into()));
    loop {
        agent.tasks.before_request(&mut messages);
        file::write(&agent.history, &messages)?;
        let request = CreateChatCompletionRequestArgs::default()
            .model(&agent.model)
            .messages(messages.clone())
            .tools(agent.tasks.chat_tools()?)
            .build()?;
        let response = agent.client.chat().create(request).await?;
        let message = response.choices.into_iter().next().ok_or("the reply has no choices")?.message;

        let answered = agent.tasks.answered(&message)?;
        messages.push(serde_json::from_value(serde_json::to_value(&message)?)?);
        messages.extend(answered.results::<Message>());
        messages.extend(no_such_tool::<Message>(&answered));
        if message.tool_calls.is_none_or(|calls| calls.is_empty()) {
            file::write(&agent.history, &messages)?;
            return Ok(message.content.unwrap_or_default());
        }
    }
}
