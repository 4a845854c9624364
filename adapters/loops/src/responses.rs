//! The Responses API, with the whole input in each request, so that nothing has to be kept by the server.

use async_openai::types::responses::{CreateResponseArgs, EasyInputMessage, InputItem};
use insomnia_tasks::responses::to_input;

use crate::{Agent, Error, file, no_such_tool};

/// One turn: from a prompt to the answer that calls no tool.
///
/// # Errors
/// If a request fails or the file cannot be read or written. The history is as it was last sent.
pub async fn turn(agent: &Agent, prompt: &str) -> Result<String, Error> {
    let mut input: Vec<InputItem> = file::read(&agent.history)?;
    agent.tasks.resume_responses(&input)?;
    input.push(EasyInputMessage::from(prompt).into());
    loop {
        agent.tasks.before_request(&mut input);
        file::write(&agent.history, &input)?;
        let request = CreateResponseArgs::default()
            .model(&agent.model)
            .input(input.clone())
            .tools(agent.tasks.response_tools()?)
            .store(false)
            .build()?;
        let response = agent.client.responses().create(request).await?;

        let answered = agent.tasks.answered_response(&response.output)?;
        input.extend(to_input(&response.output)?);
        input.extend(answered.results::<InputItem>());
        input.extend(no_such_tool::<InputItem>(&answered));
        if answered.items().is_empty() && answered.others.is_empty() {
            file::write(&agent.history, &input)?;
            return Ok(response.output_text().unwrap_or_default());
        }
    }
}
