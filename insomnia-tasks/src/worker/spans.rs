use std::{fmt, time::Duration};

use serde_json::{Value, json};
use tracing::{Span, field::Empty, info_span};

use super::{Turn, TurnError, Worker, contents};
use crate::{
    Item, ToolCall,
    tool::{ToolDefinition, ToolError, ToolOutput},
    wire::{Answer, ModelError, Usage},
};

// Names and values are those of OpenTelemetry's conventions for generative AI, version 1.41. What they want as a list of words is
// told as JSON, since a field has no such type.

/// As OpenTelemetry has numbers: exporters write out an unsigned one as text.
fn count(number: impl Into<u64>) -> i64 {
    i64::try_from(number.into()).unwrap_or(i64::MAX)
}

/// What the requests of a turn cost together.
#[derive(Debug, Default)]
pub(super) struct Spent {
    input: Option<u64>,
    cached: Option<u64>,
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
        self.cached = sum(self.cached, usage.cached_tokens);
        self.output = sum(self.output, usage.completion_tokens);
    }
}

/// The span of one turn.
pub(super) fn turn(worker: &Worker, prompt: &Item) -> Span {
    let contents = worker.settings.trace_contents;
    let agent = worker.settings.agent.as_deref();
    info_span!(
        "invoke_agent",
        otel.name = agent.map(|agent| format!("invoke_agent {agent}")),
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = provider(worker),
        gen_ai.agent.name = agent,
        gen_ai.request.model = worker.model,
        gen_ai.conversation.id = worker.settings.conversation,
        gen_ai.system_instructions = contents.then(|| instructions(worker)).flatten(),
        gen_ai.input.messages = contents.then(|| contents::messages([prompt.json()])),
        gen_ai.output.messages = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        otel.status_code = Empty,
        otel.status_description = Empty,
        "error.type" = Empty,
    )
}

/// Notes how a turn ended.
pub(super) fn turn_ended(span: &Span, spent: &Spent, outcome: &Result<Turn, TurnError>, contents: bool) {
    span.record("gen_ai.usage.input_tokens", spent.input.map(count));
    span.record("gen_ai.usage.output_tokens", spent.output.map(count));
    span.record("gen_ai.usage.cache_read.input_tokens", spent.cached.map(count));
    let told = |error: &dyn fmt::Display| contents.then(|| error.to_string());
    match outcome {
        Ok(turn) => {
            finished(span, turn.finish_reason.as_deref());
            if contents {
                span.record("gen_ai.output.messages", contents::said(&turn.text, turn.finish_reason.as_deref()));
            }
        }
        Err(TurnError::Model(error)) => failed(span, &kind(error), told(error)),
        Err(error) => failed(span, &format!("{:?}", error.kind()), told(error)),
    }
}

/// The span of one try of a model call.
pub(super) fn chat(worker: &Worker) -> Span {
    let server = || reqwest::Url::parse(worker.transport.base_url()).ok();
    let contents = worker.settings.trace_contents;
    let parameters = &worker.settings.parameters;
    let number = |name: &str| parameters.get(name).and_then(Value::as_f64);
    let whole = |name: &str| parameters.get(name).and_then(Value::as_i64);
    info_span!(
        "chat",
        otel.name = format!("chat {}", worker.model),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider(worker),
        gen_ai.request.model = worker.model,
        // told if and only if it is so
        gen_ai.request.stream = worker.settings.stream.then_some(true),
        gen_ai.request.temperature = number("temperature"),
        gen_ai.request.top_p = number("top_p"),
        gen_ai.request.top_k = number("top_k"),
        gen_ai.request.frequency_penalty = number("frequency_penalty"),
        gen_ai.request.presence_penalty = number("presence_penalty"),
        gen_ai.request.max_tokens = whole("max_completion_tokens").or_else(|| whole("max_tokens")),
        gen_ai.request.seed = whole("seed"),
        gen_ai.request.stop_sequences = parameters.get("stop").and_then(words),
        gen_ai.output.r#type = parameters.get("response_format").and_then(output_type),
        gen_ai.conversation.id = worker.settings.conversation,
        gen_ai.input.messages = contents.then(|| sent(worker)),
        server.address = server().as_ref().and_then(|server| server.host_str()),
        server.port = server().as_ref().and_then(|server| server.port_or_known_default()).map(count),
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.response.time_to_first_chunk = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        gen_ai.output.messages = Empty,
        http.response.status_code = Empty,
        otel.status_code = Empty,
        otel.status_description = Empty,
        "error.type" = Empty,
    )
}

/// Notes what came of a try; `first` is the time to the first piece of a stream.
pub(super) fn answered(span: &Span, outcome: &Result<Answer, ModelError>, first: Option<Duration>, contents: bool) {
    span.record("gen_ai.response.time_to_first_chunk", first.map(|first| first.as_secs_f64()));
    match outcome {
        Ok(answer) => {
            let usage = answer.usage.unwrap_or_default();
            span.record("gen_ai.usage.input_tokens", usage.prompt_tokens.map(count));
            span.record("gen_ai.usage.output_tokens", usage.completion_tokens.map(count));
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens.map(count));
            span.record("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens.map(count));
            span.record("gen_ai.response.id", answer.id.as_deref());
            span.record("gen_ai.response.model", answer.model.as_deref());
            finished(span, answer.finish_reason.as_deref());
            if contents && !span.is_disabled() {
                span.record("gen_ai.output.messages", contents::answer(answer));
            }
        }
        Err(error) => {
            span.record("http.response.status_code", error.status().map(count));
            failed(span, &kind(error), contents.then(|| error.to_string()));
        }
    }
}

/// The span of one tool call.
pub(super) fn tool(call: &ToolCall, definition: Option<&ToolDefinition>, contents: bool) -> Span {
    info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {}", call.name),
        otel.kind = "internal",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.description = definition.map(ToolDefinition::description),
        gen_ai.tool.call.arguments = contents.then_some(call.arguments.as_str()),
        gen_ai.tool.call.result = Empty,
        otel.status_code = Empty,
        otel.status_description = Empty,
        "error.type" = Empty,
    )
}

/// Notes what came of a tool call.
pub(super) fn tool_ended(span: &Span, outcome: &Result<ToolOutput, ToolError>, contents: bool) {
    match outcome {
        Ok(output) if contents => {
            span.record("gen_ai.tool.call.result", output.text());
        }
        Ok(_) => {}
        Err(error) => failed(span, "ToolError", contents.then(|| error.to_string())),
    }
}

fn finished(span: &Span, reason: Option<&str>) {
    if let Some(reason) = reason {
        span.record("gen_ai.response.finish_reasons", json!([reason]).to_string());
    }
}

/// What went wrong stands in a message only where contents may be told: it can quote them.
fn failed(span: &Span, what: &str, message: Option<String>) {
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", message);
    span.record("error.type", what);
}

/// The kind's name without what belongs to the single error.
pub(super) fn kind(error: &ModelError) -> String {
    let mut kind = format!("{:?}", error.kind());
    kind.truncate(kind.find(' ').unwrap_or(kind.len()));
    kind
}

/// The conventions' word for who is asked, by the server's host. Every other server speaks OpenAI's protocol, which is
/// then the word.
fn provider(worker: &Worker) -> &'static str {
    const KNOWN: [(&str, &str); 10] = [
        ("api.anthropic.com", "anthropic"),
        ("api.deepseek.com", "deepseek"),
        ("api.groq.com", "groq"),
        ("api.mistral.ai", "mistral_ai"),
        ("api.moonshot.ai", "moonshot_ai"),
        ("api.perplexity.ai", "perplexity"),
        ("api.x.ai", "x_ai"),
        ("generativelanguage.googleapis.com", "gcp.gemini"),
        ("aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("openai.azure.com", "azure.ai.openai"),
    ];
    let url = reqwest::Url::parse(worker.transport.base_url()).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    let is = |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '-']));
    KNOWN.iter().find(|(known, _)| is(known)).map_or("openai", |(_, name)| name)
}

fn words(stop: &Value) -> Option<String> {
    match stop {
        Value::String(word) => Some(json!([word]).to_string()),
        Value::Array(_) => Some(stop.to_string()),
        _ => None,
    }
}

fn instructions(worker: &Worker) -> Option<String> {
    worker.log.instructions().map(|text| json!([{"type": "text", "content": text}]).to_string())
}

/// All messages of the request: the instructions are the first of them.
fn sent(worker: &Worker) -> String {
    let messages = worker.log.projection().messages();
    contents::messages(messages.iter().map(|message| message.get()))
}

/// The conventions' word for what was asked for; both forms of OpenAI's are JSON.
fn output_type(format: &Value) -> Option<&'static str> {
    match format.get("type")?.as_str()? {
        "text" => Some("text"),
        "json_object" | "json_schema" => Some("json"),
        _ => None,
    }
}
