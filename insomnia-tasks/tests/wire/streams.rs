//! Streams beyond those of the case file, of the same kinds.

use insomnia_tasks::wire::{Delta, Progress, StreamReader};
use serde_json::{Value, json};

use super::expect::{Case, TOOLS};

/// A stream of chunks with these deltas, a finish reason and `[DONE]`.
pub(crate) fn stream(deltas: &[Value], finish: &str) -> String {
    let mut out: String = deltas.iter().map(|delta| event(&json!({"choices": [{"delta": delta}]}))).collect();
    out += &event(&json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    out + "data: [DONE]\n\n"
}

pub(crate) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

pub(crate) fn calls(entries: Value) -> Value {
    json!({"tool_calls": entries})
}

pub(crate) fn check(title: &str, body: String, expect: Value) {
    let case = json!({"id": title, "status": 200, "request_hint": {"stream": true}, "body": body, "expect": expect});
    Case(case).check();
}

#[test]
fn calls_are_put_together_from_any_pieces() {
    let get = |n: u32| json!({"name": "task_get", "arguments": {"id": n}});
    let list = json!({"name": "task_list", "arguments": {}});
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    for (title, deltas, want) in [
        (
            "no index, no id, whole calls",
            vec![
                calls(json!([{"function": function("task_get", "{\"id\":1}")}])),
                calls(json!([{"function": function("task_list", "{}")}])),
                calls(json!([{"function": function("task_get", "{\"id\":2}")}])),
            ],
            vec![get(1), list.clone(), get(2)],
        ),
        (
            "index 0 and no id for every call",
            vec![
                calls(json!([{"index": 0, "function": function("task_get", "{\"id\":1}")}])),
                calls(json!([{"index": 0, "function": function("task_list", "")}])),
            ],
            vec![get(1), list.clone()],
        ),
        (
            "index 0 and an id of its own for every call",
            vec![
                calls(json!([{"index": 0, "id": "a", "function": function("task_get", "{\"id\":1}")}])),
                calls(json!([{"index": 0, "id": "b", "function": function("task_get", "{\"id\":2}")}])),
            ],
            vec![
                json!({"id": "a", "name": "task_get", "arguments": {"id": 1}}),
                json!({"id": "b", "name": "task_get", "arguments": {"id": 2}}),
            ],
        ),
        (
            "no index and names that nobody knows",
            vec![
                calls(json!([{"function": function("x", "{\"id\"")}])),
                calls(json!([{"function": function("x", ":1}")}])),
                calls(json!([{"function": function("y", "{}")}])),
            ],
            vec![json!({"name": "x", "arguments": {"id": 1}}), json!({"name": "y", "arguments": {}})],
        ),
        (
            "the same id for every call",
            vec![
                calls(json!([{"index": 0, "id": "c", "function": function("task_get", "{\"id\":1}")}])),
                calls(json!([{"index": 0, "id": "c", "function": function("task_get", "{\"id\":2}")}])),
            ],
            vec![get(1), get(2)],
        ),
        (
            "calls between each other",
            vec![
                calls(json!([{"index": 0, "id": "a", "function": function("task_get", "")}])),
                calls(json!([{"index": 1, "id": "b", "function": function("task_get", "")}])),
                calls(
                    json!([{"index": 0, "function": {"arguments": "{\"id\":"}}, {"index": 1, "function": {"arguments": "{\"id\""}}]),
                ),
                calls(
                    json!([{"index": 1, "function": {"arguments": ":2}"}}, {"index": 0, "function": {"arguments": "1}"}}]),
                ),
            ],
            vec![get(1), get(2)],
        ),
        (
            "a new index for every piece, with the id",
            vec![
                calls(json!([{"index": 0, "id": "a", "function": function("task_get", "{\"id\"")}])),
                calls(json!([{"index": 1, "id": "a", "function": {"arguments": ":1}"}}])),
            ],
            vec![get(1)],
        ),
        (
            "an empty object first",
            vec![
                calls(json!([{"index": 0, "id": "a", "function": function("task_get", "{}")}])),
                calls(json!([{"index": 0, "function": {"arguments": "{\"id\":1}"}}])),
            ],
            vec![get(1)],
        ),
        (
            "a name that grows",
            vec![
                calls(json!([{"index": 0, "id": "a", "function": {"name": "task_"}}])),
                calls(json!([{"index": 0, "function": function("task_list", "")}])),
            ],
            vec![list.clone()],
        ),
        (
            "arguments as an object, a lone entry, a flat entry, a string index",
            vec![
                calls(json!({"index": "0", "function": {"name": "task_get", "arguments": {"id": 1}}})),
                calls(json!([{"index": "1", "id": 7, "name": "task_get", "arguments": "{\"id\":2}"}])),
            ],
            vec![get(1), get(2)],
        ),
        (
            "a legacy call in pieces",
            vec![
                json!({"function_call": {"name": "task_get", "arguments": ""}}),
                json!({"function_call": {"arguments": "{\"id\":"}}),
                json!({"function_call": {"arguments": "1}"}}),
            ],
            vec![get(1)],
        ),
        (
            "pieces without a function or a name",
            vec![
                calls(json!([{"index": 0}, null, 7, {"index": 0, "id": "a", "function": null}])),
                calls(json!([{"index": 0, "function": function("functions.task_list<|constrain|>json", "{}")}])),
                calls(json!([{"index": 5, "id": "nameless", "function": {"arguments": "{}"}}])),
            ],
            vec![list],
        ),
    ] {
        check(title, stream(&deltas, "tool_calls"), json!({"tool_calls": want}));
    }
}

#[test]
fn a_call_that_a_limit_cut_is_never_run() {
    for arguments in ["{\"id\":1", "", "{\"id\":1}"] {
        let first = json!({"index": 0, "id": "a", "function": {"name": "task_get", "arguments": "{\"id\":1}"}});
        let last = json!({"index": 1, "id": "b", "function": {"name": "task_get", "arguments": arguments}});
        let want = json!([
            {"name": "task_get", "arguments": {"id": 1}},
            {"name": "task_get", "error": "truncated"},
        ]);
        for limit in ["length", "MAX_TOKENS", "content_filter"] {
            let deltas = [calls(json!([first, last]))];
            check(arguments, stream(&deltas, limit), json!({"tool_calls": want}));
        }
    }
}

#[test]
fn what_the_provider_needs_again_is_kept() {
    let signature = json!({"google": {"thought_signature": "s"}});
    let call = json!({"index": 0, "id": "a", "function": {"name": "task_list", "arguments": "{}"}, "extra_content": signature});
    let call = [calls(json!([call.clone()])), calls(json!([{"index": 0, "extra_content": signature}]))];
    let mut reader = StreamReader::new(&TOOLS);
    reader.push(stream(&call, "stop").as_bytes());
    let message: Value = serde_json::from_str(reader.finish().unwrap().message.json()).unwrap();
    assert_eq!(message["tool_calls"][0]["extra_content"], signature);
    assert_eq!(message["content"], Value::Null);
}

#[test]
fn text_is_read_from_odd_streams() {
    let text = |text: &str| json!({"text": text, "tool_calls": []});
    let hi = event(&json!({"choices": [{"delta": {"content": "Hi"}}]}));
    let stop = event(&json!({"choices": [{"finish_reason": "stop"}]}));
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]});
    let ndjson = hi.replace("data: ", "") + &stop.replace("data: ", "");
    let surrogate = stop.replace("{\"finish", "{\"delta\":{\"content\":\"\\ud83d!\"},\"finish");
    for (title, body, want) in [
        ("finish without [DONE]", format!("{hi}{stop}"), text("Hi")),
        ("[DONE] without finish", format!("{hi}data: [DONE]\n\n"), text("Hi")),
        ("no blank lines", format!("{hi}{stop}data: [DONE]\n").replace("\n\n", "\n"), text("Hi")),
        ("a whole message as an event", event(&whole), text("Hi")),
        ("a whole message after the deltas", format!("{hi}{}", event(&whole)), text("Hi")),
        ("a JSON body", whole.to_string(), text("Hi")),
        ("a JSON body after comments", format!(": wait\n\n{whole:#}\n"), text("Hi")),
        ("lines of JSON", ndjson, text("Hi")),
        ("pings", format!("event: ping\ndata: {{\"type\":\"ping\"}}\n\n{hi}data: ping\n\n{stop}"), text("Hi")),
        ("the second choice", hi.clone() + &hi.replace("{\"delta", "{\"index\":1,\"delta") + &stop, text("Hi")),
        ("a lone surrogate", surrogate, text("\u{fffd}!")),
        ("an error after the end", format!("{hi}{stop}data: {{\"error\":{{\"message\":\"x\"}}}}\n\n"), text("Hi")),
        ("an empty finish reason", format!("{}{stop}", hi.replace("}]}", ",\"finish_reason\":\"\"}]}")), text("Hi")),
    ] {
        check(title, body, want);
    }
}

#[test]
fn failures_say_what_had_arrived() {
    let hi = event(&json!({"choices": [{"delta": {"content": "Hi"}}]}));
    let failed = |class: &str, text: &str| json!({"error_class": class, "partial_text": text});
    for (title, body, want) in [
        ("nothing", String::new(), failed("interrupted", "")),
        ("comments only", ": wait\n\n".repeat(9), failed("interrupted", "")),
        ("cut inside an event", format!("{hi}data: {{\"choices\":[{{"), failed("interrupted", "Hi")),
        ("cut inside [DONE]", format!("{hi}data: [DO"), failed("interrupted", "Hi")),
        ("an event that is no JSON", format!("{hi}data: {{nope}}\n\n{hi}"), failed("malformed", "Hi")),
        ("HTML", "<html><body>502</body></html>".into(), failed("malformed", "")),
        ("an error in the middle", format!("{hi}data: {{\"error\":{{\"code\":502}}}}\n\n"), failed("retryable", "Hi")),
        ("a named error event", format!("{hi}event: error\ndata: {{\"x\":1}}\n\n"), failed("retryable", "Hi")),
        (
            "an error without framing",
            format!("{hi}{{\"error\":{{\"code\":400}}}}\n\n"),
            failed("invalid_request", "Hi"),
        ),
        (
            "an error in a choice",
            hi.clone() + &event(&json!({"choices": [{"error": {"code": 502}}]})),
            failed("retryable", "Hi"),
        ),
        ("the finish reason `error`", stream(&[json!({"content": "Hi"})], "error"), failed("retryable", "Hi")),
        ("an array of an error", "data: [{\"error\":{\"code\":429}}]\n\n".into(), failed("retryable", "")),
        ("no text and no calls", stream(&[json!({"reasoning": "so"})], "stop"), failed("malformed", "")),
    ] {
        check(title, body, want);
    }
}

#[test]
fn progress_and_activity_tell_how_long_to_wait() {
    let mut reader = StreamReader::new(&[]);
    reader.push(b": keep-alive\n\ndata:\n\ndata: : ping\n\n");
    assert_eq!((reader.activity(), reader.progress()), (0, Progress::Open));
    let shown = reader.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\",\"reasoning\":\"so\"}}]}\n\n");
    assert_eq!(shown, [Delta::Text("Hi".into()), Delta::Reasoning("so".into())]);
    assert_eq!((reader.activity(), reader.progress(), reader.text()), (1, Progress::Open, "Hi"));
    reader.push(b"data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n");
    assert_eq!(reader.progress(), Progress::Finished);
    reader.push(b"data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\ndata: [DONE]\n\n");
    assert_eq!(reader.progress(), Progress::Done);
    let before = reader.activity();
    assert_eq!(reader.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"!\"}}]}\n\n"), []);
    assert_eq!(reader.activity(), before);
    assert_eq!(reader.finish().unwrap().usage.unwrap().total_tokens, Some(3));
}

#[test]
fn the_end_of_a_stream_tells_what_it_still_shows() {
    use insomnia_tasks::wire::{Delta, StreamReader};
    let mut reader = StreamReader::new(&[]);
    let start = event(&json!({"choices": [{"delta": {"content": "Hi "}}]}));
    assert_eq!(reader.push(start.as_bytes()), [Delta::Text("Hi ".into())]);
    assert_eq!(reader.push(br#"data: {"choices":[{"delta":{"content":"there"},"finish_reason":"stop"}]}"#), []);
    let mut told = Vec::new();
    let answer = reader.finish_telling(&mut |delta| told.push(delta)).unwrap();
    assert_eq!(told, [Delta::Text("there".into())]);
    assert_eq!(answer.message.text().as_deref(), Some("Hi there"));
}
