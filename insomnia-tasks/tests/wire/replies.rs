//! Whole replies beyond those of the case file, of the same kinds.

use serde_json::{Value, json};

use super::expect::Case;

fn check(title: &str, body: impl Into<String>, expect: Value) {
    Case(json!({"id": title, "status": 200, "body": body.into(), "expect": expect})).check();
}

fn reply(message: &Value, finish: &Value) -> String {
    json!({"choices": [{"message": message, "finish_reason": finish}]}).to_string()
}

#[test]
fn no_odd_field_costs_the_answer() {
    let fine = json!({"role": "assistant", "content": "ok"});
    let want = json!({"text": "ok", "tool_calls": []});
    for (title, reply) in [
        ("nothing but the message", json!({"choices": [{"message": fine}]})),
        (
            "nulls",
            json!({"id": null, "created": null, "usage": null, "error": null, "choices": [{"message": fine, "finish_reason": null, "logprobs": null}]}),
        ),
        (
            "other types",
            json!({"id": 7, "created": "now", "usage": [], "object": {}, "choices": [{"index": "0", "message": fine, "finish_reason": 7}]}),
        ),
        ("empty usage", json!({"usage": {}, "choices": [{"message": fine}]})),
        ("a lone choice", json!({"choices": {"message": fine}})),
        ("a delta in place of the message", json!({"choices": [{"delta": fine}]})),
        ("an array of one", json!([{"choices": [{"message": fine}]}])),
        ("no role", json!({"choices": [{"message": {"content": "ok", "tool_calls": null}}]})),
        (
            "no calls",
            json!({"choices": [{"message": {"role": "assistant", "content": "ok", "tool_calls": []}, "finish_reason": "tool_calls"}]}),
        ),
        (
            "parts",
            json!({"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}, {"type": "x"}]}}]}),
        ),
    ] {
        check(title, reply.to_string(), want.clone());
    }
    let body = reply(&fine, &json!("stop"));
    for (title, body) in [
        ("a BOM", format!("\u{feff}{body}")),
        ("blank lines to keep the connection", format!("\n\n  \n{body}\n")),
        ("something after it", format!("{body}\n{{\"x\":1}}")),
        ("an event stream", format!(": hello\n\ndata: {body}\n\ndata: [DONE]\n\n")),
    ] {
        check(title, body, want.clone());
    }
}

#[test]
fn arguments_are_read_as_they_were_meant() {
    let call = |arguments: Value| json!({"id": "a", "function": {"name": "task_get", "arguments": arguments}});
    let get = |arguments: Value| json!([{"name": "task_get", "arguments": arguments}]);
    for (arguments, want) in [
        (json!(null), get(json!({}))),
        (json!(""), get(json!({}))),
        (json!("  "), get(json!({}))),
        (json!({"id": {"x": []}}), get(json!({"id": {"x": []}}))),
        (json!("\"{\\\"id\\\":1}\""), get(json!({"id": 1}))),
        (json!("{}{\"id\":1}"), get(json!({"id": 1}))),
        (json!("{\"id\":1}{\"id\":1}"), get(json!({"id": 1}))),
        (json!("{\"id\":\"a\nb\"}"), get(json!({"id": "a\nb"}))),
        (json!("{\"id\":1"), json!([{"name": "task_get", "error": "truncated"}])),
        (json!("{id:1}"), json!([{"name": "task_get", "error": "malformed"}])),
        (json!([1]), json!([{"name": "task_get", "error": "malformed"}])),
        (json!(true), json!([{"name": "task_get", "error": "malformed"}])),
    ] {
        let body = reply(
            &json!({"role": "assistant", "content": null, "tool_calls": [call(arguments.clone())]}),
            &json!("stop"),
        );
        check(&arguments.to_string(), body, json!({"tool_calls": want}));
    }
    let cut = json!({"role": "assistant", "tool_calls": [call(json!("{\"id\":1}")), call(json!("{\"id\":1}"))]});
    let want = json!([{"name": "task_get", "arguments": {"id": 1}}, {"name": "task_get", "error": "truncated"}]);
    check("cut by a limit", reply(&cut, &json!("length")), json!({"tool_calls": want}));
}

#[test]
fn an_empty_answer_is_reported() {
    let empty = json!({"error_class": "malformed", "retryable": true});
    for message in [
        json!({"role": "assistant"}),
        json!({"role": "assistant", "content": null, "reasoning_content": "so"}),
        json!({"role": "assistant", "content": "\n\n", "tool_calls": []}),
        json!({"role": "assistant", "content": [], "tool_calls": [{"id": "a"}]}),
    ] {
        check(&message.to_string(), reply(&message, &json!("stop")), empty.clone());
        check(&message.to_string(), reply(&message, &json!(null)), empty.clone());
    }
    let announced = reply(&json!({"role": "assistant", "content": null}), &json!("tool_calls"));
    check("announced calls", announced, json!({"text": "", "tool_calls": [], "continue_loop": false}));
    let refusal = reply(&json!({"role": "assistant", "content": null, "refusal": "no"}), &json!("stop"));
    check("a refusal", refusal, json!({"tool_calls": [], "keep": {"refusal": "no"}}));
}
