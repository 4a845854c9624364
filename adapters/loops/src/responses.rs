//! The Responses API, with the whole input in each request, so that nothing has to be kept by the server.

use std::path::Path;

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::responses::{CreateResponseArgs, EasyInputMessage, InputItem},
};
use insomnia_tasks::{HostMessage, Item, Tasks, responses::to_input};

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
    let mut input: Vec<InputItem> = file::read(history)?;
    tasks.resume_responses(&input)?;
    input.push(EasyInputMessage::from(prompt).into());
    loop {
        tasks.before_request(&mut input);
        file::write(history, &input)?;
        let request = CreateResponseArgs::default()
            .model(model)
            .input(input.clone())
            .tools(tasks.response_tools()?)
            .store(false)
            .build()?;
        let response = client.responses().create(request).await?;

        let answered = tasks.answered_response(&response.output)?;
        input.extend(to_input(&response.output)?);
        input.extend(answered.results::<InputItem>());
        for call in &answered.others {
            let result = Item::tool_message(&call.id, format!("there is no tool {}", call.name));
            input.extend(InputItem::from_item(&result));
        }
        if answered.items().is_empty() && answered.others.is_empty() {
            file::write(history, &input)?;
            return Ok(response.output_text().unwrap_or_default());
        }
    }
}
