//! The words by which an error is known, in lower case. They are parts of what servers and gateways really say.

use super::error_kind::RefusedRole;

/// These words speak of rates, quotas and field lengths; with them, none of [`FULL_CONTEXT`] means a full context.
pub(super) const NO_FULL_CONTEXT: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "throttl",
    "tokens per min",
    "tokens per day",
    "per minute",
    "(tpm)",
    "please wait",
    "quota",
    "string too long",
    "string_above_max_length",
    "array too long",
    "overloaded",
];

/// The conversation is longer than the model's context.
pub(super) const FULL_CONTEXT: &[&str] = &[
    "context_length_exceeded",
    "context length exceeded",
    "contextwindowexceeded",
    "context_window_exceeded",
    "exceed_context_size",
    "model_max_prompt_tokens_exceeded",
    "maximum context length",
    "maximum context size",
    "max context length",
    "maximum model length",
    "maximum prompt length",
    "maximum input length",
    "model's context length",
    "model's context window",
    "available context size",
    "context size has been exceeded",
    "context window exceeds",
    "context window is full",
    "exceeds the context",
    "exceed the context",
    "exceeds context",
    "exceed context limit",
    "exceeded model token limit",
    "greater than the context length",
    "longer than the context",
    "context length is only",
    "context overflow",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "prompt exceeds max length",
    "prompt exceeds the length limit",
    "exceeds the maximum number of tokens allowed",
    "exceeds the maximum number of input tokens",
    "tokens in request more than max tokens allowed",
    "input tokens exceed the configured limit",
    "prompt token count of",
    "range of input length should be",
    "reduce the length of the messages",
    "reduce the length of the input prompt",
    "please reduce your prompt",
    "too large for model with",
    "too many tokens",
    "`inputs` tokens + `max_new_tokens` must be",
];

/// A message was refused for its role or its place. The first match counts.
pub(super) const REFUSED_PLACE: &[(&str, RefusedRole)] = &[
    ("unexpected role 'user'", RefusedRole::User),
    ("unexpected role 'system'", RefusedRole::System),
    ("unexpected role 'developer'", RefusedRole::Developer),
    ("unexpected role 'assistant'", RefusedRole::Assistant),
    ("for serving but got system", RefusedRole::System),
    ("for serving but got developer", RefusedRole::Developer),
    ("for serving but got assistant", RefusedRole::Assistant),
    ("roles are supported, got system", RefusedRole::System),
    ("roles are supported, got developer", RefusedRole::Developer),
    ("does not support 'system' with this model", RefusedRole::System),
    ("does not support 'developer' with this model", RefusedRole::Developer),
    ("'developer' is not one of", RefusedRole::Developer),
    ("developer is not one of", RefusedRole::Developer),
    ("unknown variant `developer`", RefusedRole::Developer),
    ("role 'developer' is not", RefusedRole::Developer),
    ("role \"developer\" is not", RefusedRole::Developer),
    ("role developer is not", RefusedRole::Developer),
    ("developer role is not supported", RefusedRole::Developer),
    ("developer role not supported", RefusedRole::Developer),
    ("unsupported role: developer", RefusedRole::Developer),
    ("unsupported role 'developer'", RefusedRole::Developer),
    ("invalid role: developer", RefusedRole::Developer),
    ("invalid role 'developer'", RefusedRole::Developer),
    ("unknown role: developer", RefusedRole::Developer),
    ("unknown role 'developer'", RefusedRole::Developer),
    ("'system' is not one of", RefusedRole::System),
    ("unknown variant `system`", RefusedRole::System),
    ("invalid role: system", RefusedRole::System),
    ("invalid message role: system", RefusedRole::System),
    ("unsupported role: system", RefusedRole::System),
    ("role 'system' must be", RefusedRole::System),
    ("role 'system' is not", RefusedRole::System),
    ("system message must be at the beginning", RefusedRole::System),
    ("system messages must be at the beginning", RefusedRole::System),
    ("system message must be the first", RefusedRole::System),
    ("system messages must be the first", RefusedRole::System),
    ("system message must be first", RefusedRole::System),
    ("system message must come first", RefusedRole::System),
    ("system message should be the first", RefusedRole::System),
    ("system message can only be", RefusedRole::System),
    ("system message is only allowed", RefusedRole::System),
    ("system messages are only allowed", RefusedRole::System),
    ("only one system message", RefusedRole::System),
    ("multiple system messages", RefusedRole::System),
    ("more than one system message", RefusedRole::System),
    ("only the first message can be", RefusedRole::System),
    ("first message can be system", RefusedRole::System),
    ("system role not supported", RefusedRole::System),
    ("system role is not supported", RefusedRole::System),
    ("system messages are not supported", RefusedRole::System),
    ("assistant messages at the end", RefusedRole::Assistant),
    ("assistant message prefill", RefusedRole::Assistant),
    ("conversation must end with a user message", RefusedRole::Assistant),
    ("expected last role", RefusedRole::Unknown),
    ("roles must alternate", RefusedRole::Unknown),
    ("unexpected message role", RefusedRole::Unknown),
    ("unexpected role", RefusedRole::Unknown),
    (".role: input should be", RefusedRole::Unknown),
    ("property 'role' has invalid value", RefusedRole::Unknown),
    ("incorrect role information", RefusedRole::Unknown),
];

/// `content: null` of an assistant message was refused, where "content" is spoken of too.
pub(super) const NULL_CONTENT: &[&str] = &[
    "invalid message content type: <nil>",
    "expected a string, got null",
    "got null instead",
    "content: input should be a valid string",
    "content cannot be null",
    "content is null",
];

/// Empty `content` of an assistant message was refused.
pub(super) const EMPTY_CONTENT: &[&str] = &[
    "content blocks must be non-empty",
    "content blocks must contain non-whitespace",
    "must have non-empty content",
    "content must be non-empty",
    "content cannot be empty",
    "content must not be empty",
    "the text field in the contentblock object",
];

/// The form of a tool call's id was refused.
pub(super) const CALL_ID: &[&str] = &[
    "must be a-z, a-z, 0-9, with a length of 9",
    "tool call ids should be alphanumeric strings with length 9",
    "tool call ids must be alphanumeric strings with length 9",
];

/// Fields of messages that some servers refuse.
pub(super) const MESSAGE_FIELDS: &[&str] = &[
    "reasoning_content",
    "reasoning_details",
    "reasoning",
    "extra_content",
    "refusal",
    "annotations",
    "audio",
    "function_call",
    "name",
];

/// A field is not taken, where one of the messages' is named.
pub(super) const REFUSED_FIELD: &[&str] = &[
    "unsupported",
    "not supported",
    "not permitted",
    "not allowed",
    "not expected",
    "extra_forbidden",
    "unknown field",
    "unknown name",
    "unknown parameter",
    "unrecognized",
    "unexpected",
    "additional propert",
    "please remove",
];

/// The API key is bad, although the status may not say so.
pub(super) const BAD_KEY: &[&str] = &[
    "api_key_invalid",
    "api key not valid",
    "invalid api key",
    "invalid api-key",
    "invalid_api_key",
    "incorrect api key",
    "api key is missing",
    "missing api key",
    "no api key",
    "no auth credentials",
    "authentication_error",
    "authenticationerror",
    "authentication fails",
    "unauthenticated",
    "unauthorized",
    "login fail",
];

/// No credit is left, whatever the status.
pub(super) const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "insufficient balance",
    "insufficient_balance",
    "insufficient credit",
    "insufficient_credit",
    "insufficient account balance",
    "insufficient funds",
    "billing_hard_limit",
    "billing_not_active",
    "credit balance is too low",
    "requires more credits",
    "out of credits",
    "no credits",
    "payment required",
    "payment_required",
    "arrearage",
    "account is in arrears",
    "余额不足",
];

/// No credit is left, unless the server also says when to come back.
pub(super) const NO_QUOTA: &[&str] =
    &["exceeded your current quota", "exceeded_current_quota", "check your plan and billing", "spending limit"];

/// Too many requests or tokens in a short time.
pub(super) const RATE_LIMITED: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "too_many_requests",
    "throttl",
    "resource_exhausted",
    "resource exhausted",
    "tokens per min",
];

/// The model has no tools.
pub(super) const NO_TOOLS: &[&str] = &[
    "does not support tools",
    "does not support tool use",
    "does not support function call",
    "doesn't support tools",
    "tool use is not supported",
    "tools are not supported",
    "tool calling is not supported",
    "function calling is not enabled",
    "endpoints found that support tool use",
    "tool choice requires --enable-auto-tool-choice",
    "requires --enable-auto-tool-choice",
    "tools param requires --jinja",
];

/// There is no such model. These count at any status; at 404 the word "model" is enough.
pub(super) const NO_MODEL: &[&str] = &[
    "model_not_found",
    "modelnotfound",
    "model not found",
    "model not exist",
    "is not a valid model",
    "invalid model name",
    "invalid model id",
    "unknown model",
    "no such model",
    "model does not exist",
    "model_not_available",
];

/// A chat template failed on the messages: the same messages fail again, also where the status is 500.
pub(super) const TEMPLATE_FAILED: &[&str] =
    &["jinja", "raise_exception", "chat template", "templateerror", "chat_template"];

/// The request is at fault, for bodies without a status and for statuses of 500.
pub(super) const BAD_REQUEST: &[&str] = &[
    "invalid_request",
    "invalid request",
    "badrequest",
    "bad_request",
    "bad request",
    "invalid_argument",
    "invalidargument",
];
