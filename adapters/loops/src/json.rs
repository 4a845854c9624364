//! Chat completions over JSON, with async-openai's `byot` calls: fields that the types do not know stay in the history.

use std::path::Path;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{HostMessage, Item, Tasks};
use serde_json::{Value, json};

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
    let mut messages: Vec<Value> = file::read(history)?;
    tasks.resume(&messages)?;
    messages.push(json!({"role": "user", "content": prompt}));
    loop {
        tasks.before_request(&mut messages);
        file::write(history, &messages)?;
        let request = json!({"model": model, "messages": messages, "tools": tasks.definitions()});
        let mut response: Value = client.chat().create_byot(request).await?;
        let message = response["choices"][0]["message"].take();

        let answered = tasks.answered(&message)?;
        let text = message["content"].as_str().unwrap_or_default().to_owned();
        messages.push(message);
        messages.extend(answered.results::<Value>());
        for call in &answered.others {
            let result = Item::tool_message(&call.id, format!("there is no tool {}", call.name));
            messages.extend(Value::from_item(&result));
        }
        if answered.items().is_empty() && answered.others.is_empty() {
            file::write(history, &messages)?;
            return Ok(text);
        }
    }
}
