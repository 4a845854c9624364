//! The plugin for loops over async-openai's Responses API, with the feature `responses`.
//!
//! The history there is a list of input items. The three calls are those of a chat loop: [`Tasks::response_tools`] for
//! the request, [`Tasks::before_request`] on your list, and [`Tasks::answered_response`] with the output. A reminder is
//! a message item, or merged into the last one.
//!
//! ```
//! use async_openai::types::responses::{EasyInputMessage, InputItem, OutputItem};
//! use insomnia_tasks::{Tasks, responses::to_input};
//! use serde_json::{from_value, json};
//!
//! let tasks = Tasks::for_server("https://api.openai.com/v1", "gpt-5-mini");
//! let mut input = vec![InputItem::from(EasyInputMessage::from("Plan the release."))];
//!
//! let tools = tasks.response_tools()?; // 1: for the request
//! tasks.before_request(&mut input); // 2: a reminder, when it is due
//! let output: Vec<OutputItem> = from_value(json!([{"type": "function_call", "id": "fc_1", "call_id": "a",
//!     "name": "TaskCreate", "arguments": "{\"subject\":\"Tag it\",\"description\":\"\"}"}]))?;
//! let answered = tasks.answered_response(&output)?; // 3: what the model answered
//! input.extend(to_input(&output)?);
//! input.extend(answered.results::<InputItem>());
//! assert_eq!((tools.len(), input.len()), (4, 3));
//! assert_eq!(tasks.store().list()[0].subject, "Tag it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use async_openai::types::responses::{FunctionTool, InputItem, OutputItem, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Answered, ItemError, Tasks, ToolDefinition};

impl Tasks {
    /// The four tools in the form of the Responses API.
    ///
    /// # Errors
    /// As [`response_tool`].
    pub fn response_tools(&self) -> Result<Vec<Tool>, serde_json::Error> {
        self.definitions().iter().map(response_tool).collect()
    }

    /// After each response, once: as [`answered`](Self::answered), with the response's output.
    ///
    /// # Errors
    /// If async-openai's type has no JSON form; none is known.
    pub fn answered_response(&self, output: &[OutputItem]) -> Result<Answered, ItemError> {
        self.answered(&answer(&values(output)?))
    }

    /// Takes in the input of an earlier part of the session, as [`resume`](Self::resume) takes in messages.
    ///
    /// What stands between two items of yours is one answer, so keep all that [`to_input`] returns. An item of yours is a message
    /// that is not the assistant's, or what a call came to.
    ///
    /// # Errors
    /// If async-openai's type has no JSON form; none is known.
    pub fn resume_responses(&self, input: &[InputItem]) -> Result<(), ItemError> {
        let input = values(input)?;
        let runs = input.chunk_by(|one, next| !is_host(one) && !is_host(next));
        let messages: Vec<_> = runs.map(|run| run.first().and_then(host).unwrap_or_else(|| answer(run))).collect();
        self.resume(&messages)
    }
}

/// A tool in the form of the Responses API, not strict, as in a chat.
///
/// # Errors
/// If its schema is no JSON value, which none is.
pub fn response_tool(definition: &ToolDefinition) -> Result<Tool, serde_json::Error> {
    function_tool(definition.raw().get())
}

/// The same for strict mode, where that can say the schema: see [`ToolDefinition::strict`].
///
/// # Errors
/// As [`response_tool`].
pub fn strict_response_tool(definition: &ToolDefinition) -> Result<Tool, serde_json::Error> {
    function_tool(definition.strict().get())
}

/// From the entry of a chat request.
fn function_tool(entry: &str) -> Result<Tool, serde_json::Error> {
    #[derive(Deserialize)]
    struct Entry {
        function: Function,
    }
    #[derive(Deserialize)]
    struct Function {
        name: String,
        description: String,
        parameters: Value,
        #[serde(default)]
        strict: bool,
    }
    let Entry { function } = serde_json::from_str(entry)?;
    Ok(Tool::Function(FunctionTool {
        name: function.name,
        description: Some(function.description),
        parameters: Some(function.parameters),
        // where nothing is said, this API takes a tool for a strict one
        strict: Some(function.strict),
        ..FunctionTool::default()
    }))
}

/// A response's output as it goes into the next request's input, for hosts that send all of it each time.
///
/// # Errors
/// If async-openai cannot read as input what it has read as output.
pub fn to_input(output: &[OutputItem]) -> Result<Vec<InputItem>, serde_json::Error> {
    output.iter().map(|item| serde_json::from_value(serde_json::to_value(item)?)).collect()
}

fn values(items: &[impl Serialize]) -> Result<Vec<Value>, ItemError> {
    items.iter().map(|item| serde_json::to_value(item).map_err(ItemError::Json)).collect()
}

fn is_host(item: &Value) -> bool {
    host(item).is_some()
}

/// An item of the host as a chat message, in which the texts of this API's parts are found as well.
fn host(item: &Value) -> Option<Value> {
    match item["type"].as_str()? {
        "message" if item["role"] != "assistant" => Some(json!({"role": item["role"], "content": item["content"]})),
        kind if kind.ends_with("_output") => {
            Some(json!({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}))
        }
        _ => None,
    }
}

/// The items of one answer as a chat message.
fn answer(items: &[Value]) -> Value {
    let texts = items.iter().filter(|item| item["type"] == "message").map(|item| text(&item["content"]));
    let calls = items.iter().filter(|item| item["type"] == "function_call").map(|call| {
        let function = json!({"name": call["name"], "arguments": call["arguments"]});
        json!({"id": call["call_id"], "type": "function", "function": function})
    });
    json!({"role": "assistant", "content": texts.collect::<String>(), "tool_calls": calls.collect::<Vec<_>>()})
}

fn text(content: &Value) -> String {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    content.as_str().map_or(parts, str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_are_told_in_both_renderings() {
        let told = |tool: Result<Tool, _>| serde_json::to_value(tool.unwrap()).unwrap();
        let parameters = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        let definition = ToolDefinition::new("t", "Does it.", parameters.clone()).unwrap();
        let plain = told(response_tool(&definition));
        assert_eq!((&plain["strict"], &plain["parameters"]), (&json!(false), &parameters));
        let strict = told(strict_response_tool(&definition));
        assert_eq!((&strict["strict"], &strict["parameters"]["required"]), (&json!(true), &json!(["x"])));
        assert_eq!(
            (&strict["type"], &strict["name"], &strict["description"]),
            (&json!("function"), &json!("t"), &json!("Does it."))
        );
        let any = ToolDefinition::new("t", "Does it.", json!({"type": "object", "properties": {"x": true}})).unwrap();
        assert_eq!(told(strict_response_tool(&any)), told(response_tool(&any)));
    }
}
