//! Errors beyond those of the case file, of the same kinds.

use serde_json::{Value, json};

use super::expect::Case;

fn check(title: &str, status: u16, headers: Value, body: impl ToString, expect: Value) {
    let body = body.to_string();
    Case(json!({"id": title, "status": status, "headers": headers, "body": body, "expect": expect})).check();
}

#[test]
fn the_wait_is_found_wherever_it_stands() {
    let wait = |seconds: f64| json!({"error_class": "retryable", "retry_after_s": seconds});
    let dated = json!({"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"});
    for (title, status, headers, body, want) in [
        ("seconds", 429, json!({"Retry-After": "7"}), json!({}), wait(7.0)),
        ("a date", 429, dated, json!({}), wait(30.0)),
        ("milliseconds", 503, json!({"retry-after-ms": "1500", "retry-after": "9"}), json!({}), wait(1.5)),
        ("a field", 429, json!({}), json!({"error": {"message": "x", "retry_after": 2.5}}), wait(2.5)),
        ("Gemini", 429, json!({}), json!([{"error": {"code": 429, "details": [{"retryDelay": "17.5s"}]}}]), wait(17.5)),
        ("text", 429, json!({}), json!({"error": {"message": "Please try again in 1m3.5s."}}), wait(63.5)),
        ("text in ms", 429, json!({}), json!({"error": {"message": "Please try again in 20ms."}}), wait(0.02)),
        ("Azure", 429, json!({}), json!({"error": {"message": "Please retry after 20 seconds."}}), wait(20.0)),
        ("a reset", 429, json!({"x-ratelimit-reset-requests": "6m0s"}), json!({}), wait(360.0)),
        ("a 402 that ends", 402, json!({"retry-after": "60"}), json!({"error": "x"}), wait(60.0)),
    ] {
        check(title, status, headers, body, want);
    }
    check("nonsense", 429, json!({"retry-after": "soon"}), "", json!({"error_class": "retryable"}));
}

#[test]
fn errors_of_other_providers() {
    let class = |class: &str| json!({"error_class": class});
    let billing = json!({"error_class": "invalid_request", "billing": true, "retryable": false});
    let capped = json!({"error_class": "invalid_request", "subtype": "request_over_rate_cap"});
    let no_tools = json!({"error_class": "invalid_request", "subtype": "tools_unsupported"});
    let large = json!({"error_class": "invalid_request", "subtype": "payload_too_large"});
    for (status, body, want) in [
        (
            401,
            json!({"error": {"message": "Incorrect API key provided: sk-***", "code": "invalid_api_key"}}),
            class("auth"),
        ),
        (401, json!(null), class("auth")),
        (403, json!({"error": "forbidden"}), class("auth")),
        (500, json!({"error": {"message": "litellm.AuthenticationError: Invalid API key"}}), class("auth")),
        (404, json!({"error": {"message": "model 'm' not found, try pulling it first"}}), class("model_not_found")),
        (
            404,
            json!({"error": {"code": "model_not_found", "message": "The model `m` does not exist"}}),
            class("model_not_found"),
        ),
        (
            429,
            json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "code": "insufficient_quota"}}),
            billing.clone(),
        ),
        (402, json!({"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}), billing.clone()),
        (
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API."}}),
            billing,
        ),
        (
            429,
            json!({"error": {"message": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 42084.", "code": "rate_limit_exceeded"}}),
            capped,
        ),
        (404, json!({"error": {"message": "No endpoints found that support tool use."}}), no_tools.clone()),
        (
            400,
            json!({"error": {"message": "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}),
            no_tools,
        ),
        (413, json!({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}), large),
        (400, json!({"error": {"code": "context_length_exceeded", "message": "x"}}), class("context_length")),
        (500, json!({"error": {"message": "Context size has been exceeded.", "code": 500}}), class("context_length")),
        (
            422,
            json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193"}),
            class("context_length"),
        ),
        (
            400,
            json!({"error": {"message": "invalid params, context window exceeds limit (2013)"}}),
            class("context_length"),
        ),
        (
            503,
            json!({"error": {"message": "ThrottlingException: Too many tokens, please wait before trying again."}}),
            class("retryable"),
        ),
        (
            400,
            json!({"error": {"message": "Provider returned error", "metadata": {"raw": "{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}"}}}),
            class("context_length"),
        ),
        (529, json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}), class("retryable")),
        (500, json!({"error": {"code": 400, "message": "x"}}), class("invalid_request")),
        (500, json!({"error": {"message": "x", "type": "invalid_request_error"}}), class("invalid_request")),
        (500, json!({"error": {"message": "Jinja Exception: no filter 'x'"}}), class("invalid_request")),
        (200, json!({"error": {"message": "x", "code": "503"}}), class("retryable")),
        (200, json!({"error": "Internal error"}), class("retryable")),
        (200, json!({"detail": "Not authenticated: invalid api key"}), class("auth")),
    ] {
        check(&body.to_string(), status, json!({}), &body, want);
    }
}

#[test]
fn bodies_that_are_no_json() {
    for (status, body, class) in [
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", "retryable"),
        (503, "no healthy upstream", "retryable"),
        (500, "", "retryable"),
        (404, "404 page not found", "invalid_request"),
        (400, "{\"error\":", "invalid_request"),
        (200, "<!DOCTYPE html>", "malformed"),
        (200, "", "malformed"),
        (200, "null", "malformed"),
    ] {
        check(body, status, json!({}), body, json!({"error_class": class}));
    }
}
