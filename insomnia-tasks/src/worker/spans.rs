use serde_json::{Value, json};
use tracing::{Span, field::Empty, info_span};

use super::{TurnError, Worker};
use crate::{
    Item, ToolCall,
    tool::{ToolError, ToolOutput},
    wire::{Answer, ModelError, Usage},
};

// Names and values are those of OpenTelemetry's conventions for generative AI, version 1.41.

/// What the requests of a turn cost together.
#[derive(Default)]
pub(super) struct Spent {
    input: Option<u64>,
    output: Option<u64>,
}

impl Spent {
    pub(super) fn add(&mut self, usage: Option<Usage>) {
        let sum = |so_far: Option<u64>, more: Option<u64>| match more {
            Some(more) => Some(so_far.unwrap_or(0).saturating_add(more)),
            None => so_far,
        };
        let usage = usage.unwrap_or_default();
        self.input = sum(self.input, usage.prompt_tokens);
        self.output = sum(self.output, usage.completion_tokens);
    }
}

/// The span of one turn.
pub(super) fn turn(worker: &Worker, prompt: &Item) -> Span {
    let contents = worker.settings.trace_contents;
    info_span!(
        "invoke_agent",
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = "openai",
        gen_ai.request.model = worker.model,
        gen_ai.conversation.id = worker.settings.conversation,
        gen_ai.input.messages = contents.then(|| json!([message("user", text_part(prompt), None)]).to_string()),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// Notes how a turn ended.
pub(super) fn turn_ended<T>(span: &Span, spent: &Spent, outcome: &Result<T, TurnError>) {
    span.record("gen_ai.usage.input_tokens", spent.input);
    span.record("gen_ai.usage.output_tokens", spent.output);
    match outcome {
        Ok(_) => {}
        Err(TurnError::Model(error)) => failed(span, &kind(error)),
        Err(error) => failed(span, &format!("{:?}", error.kind())),
    }
}

/// The span of one try of a model call.
pub(super) fn chat(worker: &Worker) -> Span {
    let server = || reqwest::Url::parse(worker.transport.base_url()).ok();
    info_span!(
        "chat",
        otel.name = format!("chat {}", worker.model),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = "openai",
        gen_ai.request.model = worker.model,
        gen_ai.conversation.id = worker.settings.conversation,
        server.address = server().as_ref().and_then(|server| server.host_str()),
        server.port = server().as_ref().and_then(|server| server.port_or_known_default()),
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.output.messages = Empty,
        http.response.status_code = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// Notes what came of a try.
pub(super) fn answered(span: &Span, outcome: &Result<Answer, ModelError>, contents: bool) {
    match outcome {
        Ok(answer) => {
            let usage = answer.usage.unwrap_or_default();
            span.record("gen_ai.usage.input_tokens", usage.prompt_tokens);
            span.record("gen_ai.usage.output_tokens", usage.completion_tokens);
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
            if let Some(reason) = &answer.finish_reason {
                span.record("gen_ai.response.finish_reasons", json!([reason]).to_string());
            }
            if contents && !span.is_disabled() {
                span.record("gen_ai.output.messages", output(answer).to_string());
            }
        }
        Err(error) => {
            span.record("http.response.status_code", error.status());
            failed(span, &kind(error));
        }
    }
}

/// The span of one tool call.
pub(super) fn tool(call: &ToolCall, contents: bool) -> Span {
    info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {}", call.name),
        otel.kind = "internal",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.arguments = contents.then_some(call.arguments.as_str()),
        gen_ai.tool.call.result = Empty,
        otel.status_code = Empty,
        "error.type" = Empty,
    )
}

/// Notes what came of a tool call.
pub(super) fn tool_ended(span: &Span, outcome: &Result<ToolOutput, ToolError>, contents: bool) {
    if contents {
        match outcome {
            Ok(output) => span.record("gen_ai.tool.call.result", output.text()),
            Err(error) => span.record("gen_ai.tool.call.result", error.to_string()),
        };
    }
    if outcome.is_err() {
        failed(span, "ToolError");
    }
}

fn failed(span: &Span, what: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", what);
}

/// The kind's name without what belongs to the single error.
fn kind(error: &ModelError) -> String {
    let mut kind = format!("{:?}", error.kind());
    kind.truncate(kind.find(' ').unwrap_or(kind.len()));
    kind
}

fn output(answer: &Answer) -> Value {
    let mut parts = text_part(&answer.message);
    parts.extend(answer.calls.iter().map(|call| {
        let arguments = call.arguments.as_ref().ok();
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments})
    }));
    json!([message("assistant", parts, answer.finish_reason.as_deref())])
}

fn message(role: &str, parts: Vec<Value>, finish_reason: Option<&str>) -> Value {
    match finish_reason {
        Some(reason) => json!({"role": role, "parts": parts, "finish_reason": reason}),
        None => json!({"role": role, "parts": parts}),
    }
}

fn text_part(item: &Item) -> Vec<Value> {
    let text = item.text().filter(|text| !text.is_empty());
    text.map(|text| json!({"type": "text", "content": text})).into_iter().collect()
}
