//! Chat completions over JSON, with async-openai's `byot` calls: fields that the types do not know stay in the history.

use serde_json::{Value, json};

use crate::{Agent, Error, file, no_such_tool};

/// One turn: from a prompt to the answer that calls no tool.
///
/// # Errors
/// If a request fails or the file cannot be read or written. The history is as it was last sent.
pub async fn turn(agent: &Agent, prompt: &str) -> Result<String, Error> {
    let mut messages: Vec<Value> = file::read(&agent.history)?;
    agent.tasks.resume(&messages)?;
    messages.push(json!({"role": "user", "content": prompt}));
    loop {
        agent.tasks.before_request(&mut messages);
        file::write(&agent.history, &messages)?;
        let request = json!({"model": agent.model, "messages": messages, "tools": agent.tasks.definitions()});
        let mut response: Value = agent.client.chat().create_byot(request).await?;
        let message = response["choices"][0]["message"].take();

        let answered = agent.tasks.answered(&message)?;
        let text = message["content"].as_str().unwrap_or_default().to_owned();
        messages.push(message);
        messages.extend(answered.results::<Value>());
        messages.extend(no_such_tool::<Value>(&answered));
        if answered.items().is_empty() && answered.others.is_empty() {
            file::write(&agent.history, &messages)?;
            return Ok(text);
        }
    }
}
