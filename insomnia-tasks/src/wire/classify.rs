use super::{
    error::ModelError,
    error_body::ErrorBody,
    error_kind::{ErrorDetail, ModelErrorKind as Kind},
    head::ReplyHead,
    markers, retry_after,
};

/// Says what an error reply means, from its status, its headers and a body of any shape.
///
/// A reply of status 2xx is one whose body states an error. A full context is only recognised where nothing speaks of
/// rates or quotas; a lack of credit is not retryable, unless a 402 says when to come back.
pub fn classify(head: &ReplyHead<'_>, body: &[u8]) -> ModelError {
    let read = ErrorBody::read(body);
    let status = effective_status(head, &read);
    let stated =
        retry_after::from_headers(head).or(read.retry_after).or_else(|| retry_after::from_text(&read.haystack));
    let (kind, detail) = judge(status, &read, stated.is_some(), body.is_empty());
    let wait = match kind {
        Kind::RateLimited { .. } => stated.or_else(|| retry_after::from_reset_headers(head)),
        _ => stated,
    };
    let kind = if matches!(kind, Kind::RateLimited { .. }) { Kind::RateLimited { retry_after: wait } } else { kind };
    ModelError::new(kind, read.message)
        .with_status(status)
        .with_detail(detail)
        .with_retry_after(wait)
        .with_headers(head.headers())
        .with_body(body)
}

/// The status that a body states counts where the reply's own says little: a success, a plain 400, or a gateway's 5xx.
fn effective_status(head: &ReplyHead<'_>, body: &ErrorBody) -> Option<u16> {
    match (head.status(), body.status) {
        (200..300 | 400 | 500.., Some(stated)) => Some(stated),
        (200..300, None) => None,
        (own, _) => Some(own),
    }
}

type Verdict = (Kind, Option<ErrorDetail>);

fn judge(status: Option<u16>, body: &ErrorBody, has_wait: bool, is_empty: bool) -> Verdict {
    let says = |words: &[&str]| words.iter().any(|word| body.haystack.contains(word));
    const LIMITED: Kind = Kind::RateLimited { retry_after: None };

    if is_empty && status == Some(400) {
        return (Kind::ContextLength, Some(ErrorDetail::Guessed));
    }
    if says(markers::FULL_CONTEXT) && !says(markers::NO_FULL_CONTEXT) {
        return (Kind::ContextLength, None);
    }
    if let Some((_, role)) = markers::REFUSED_PLACE.iter().find(|(word, _)| body.haystack.contains(word)) {
        return (Kind::InvalidRequest, Some(ErrorDetail::Placement(*role)));
    }
    if says(markers::NO_TOOLS) {
        return (Kind::InvalidRequest, Some(ErrorDetail::ToolsUnsupported));
    }
    let for_good = says(markers::NO_CREDIT) && !(status == Some(402) && has_wait);
    let unless_told_to_wait = status == Some(402) || says(markers::NO_QUOTA);
    if for_good || unless_told_to_wait && !has_wait {
        // Gemini speaks of plan and billing when a quota per minute is used up
        let per_minute = says(&["resource_exhausted"]) && status != Some(402);
        return (if per_minute { LIMITED } else { Kind::Billing }, None);
    }
    if status == Some(413) || says(&["request too large for"]) {
        let detail = match says(markers::RATE_LIMITED) {
            true => ErrorDetail::RequestOverRateCap,
            false => ErrorDetail::PayloadTooLarge,
        };
        return (Kind::InvalidRequest, Some(detail));
    }
    match status {
        Some(401 | 403) => (Kind::Auth, None),
        Some(402 | 429) => (LIMITED, None),
        Some(408) => (Kind::Timeout, None),
        Some(409 | 425 | 499) => (Kind::Server, None),
        _ if says(markers::BAD_KEY) => (Kind::Auth, None),
        _ if says(markers::NO_MODEL) => (Kind::ModelNotFound, None),
        Some(404 | 410) if says(&["model"]) => (Kind::ModelNotFound, None),
        Some(300..400 | 404 | 410 | 501 | 505) => (Kind::InvalidRequest, None),
        _ if says(markers::NULL_CONTENT) && says(&["content"]) => {
            (Kind::InvalidRequest, Some(ErrorDetail::NullContent))
        }
        _ if says(markers::EMPTY_CONTENT) => (Kind::InvalidRequest, Some(ErrorDetail::EmptyContent)),
        _ if says(markers::CALL_ID) => (Kind::InvalidRequest, Some(ErrorDetail::CallId)),
        _ if says(&["stream_options"]) => (Kind::InvalidRequest, Some(ErrorDetail::StreamOptions)),
        _ if says(markers::TEMPLATE_FAILED) => (Kind::InvalidRequest, None),
        _ if says(markers::RATE_LIMITED) => (LIMITED, None),
        None | Some(500) if says(markers::BAD_REQUEST) => (Kind::InvalidRequest, refused_field(&body.haystack)),
        Some(400..500) => (Kind::InvalidRequest, refused_field(&body.haystack)),
        _ => (Kind::Server, None),
    }
}

/// The field of a message that the server does not take.
fn refused_field(haystack: &str) -> Option<ErrorDetail> {
    let says = |words: &[&str]| words.iter().any(|word| haystack.contains(word));
    if !says(&["message"]) || !says(markers::REFUSED_FIELD) {
        return None;
    }
    let field = markers::MESSAGE_FIELDS.iter().find(|field| names_field(haystack, field))?;
    Some(ErrorDetail::MessageField(field))
}

/// Whether a text speaks of this field by its path (`messages.1.user.name:`) or in quotes, and not just of the word.
fn names_field(haystack: &str, field: &str) -> bool {
    haystack.match_indices(field).any(|(at, _)| {
        let before = haystack.get(..at).and_then(|before| before.chars().next_back());
        let after = haystack.get(at + field.len()..).and_then(|after| after.chars().next());
        let opens = matches!(before, Some('.' | '\'' | '"' | '`'));
        opens && !after.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::error_kind::RefusedRole, *};

    fn kind(status: u16, message: &str) -> Kind {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        classify(&ReplyHead::new(status), body.as_bytes()).kind()
    }

    #[test]
    fn knows_a_full_context_from_other_limits() {
        for (status, message) in [
            (400, "Your input exceeds the context window of this model."),
            (400, "Input is too long for requested model."),
            (400, "prompt token count of 133000 exceeds the limit of 128000"),
            (400, "Invalid request: Your request exceeded model token limit: 8192"),
            (500, "Context size has been exceeded."),
            (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
            (413, "This endpoint's maximum context length is 131072 tokens."),
            (200, "the input length exceeds the context length"),
        ] {
            assert_eq!(kind(status, message), Kind::ContextLength, "{message}");
        }
        for (status, message) in [
            (429, "Too many tokens, please wait before trying again."),
            (400, "messages.3.content: string too long"),
            (429, "Quota exceeded: maximum context length tier"),
            (400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
        ] {
            assert_ne!(kind(status, message), Kind::ContextLength, "{message}");
        }
    }

    #[test]
    fn tells_no_credit_from_no_patience() {
        const LIMITED: Kind = Kind::RateLimited { retry_after: None };
        assert_eq!(
            kind(429, "You exceeded your current quota, please check your plan and billing details."),
            Kind::Billing
        );
        assert_eq!(kind(402, "Insufficient Balance"), Kind::Billing);
        assert_eq!(kind(403, "Your credit balance is too low"), Kind::Billing);
        assert_eq!(kind(429, "slow down"), LIMITED);
        let gemini = br#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"17s"}]}}]"#;
        let wait = Some(Duration::from_secs(17));
        assert_eq!(classify(&ReplyHead::new(429), gemini).kind(), Kind::RateLimited { retry_after: wait });
        let paid_soon = ReplyHead::new(402).with_headers(&[("retry-after", "5")]);
        assert!(classify(&paid_soon, b"{}").is_retryable());
        assert!(!classify(&ReplyHead::new(402), b"{}").is_retryable());
    }

    #[test]
    fn recognises_refused_places() {
        for (message, role) in [
            ("Expected last role User or Tool for serving but got system", RefusedRole::System),
            ("Only user, assistant and tool roles are supported, got system.", RefusedRole::System),
            ("messages[0].role: unknown variant `developer`, expected one of `system`, `user`", RefusedRole::Developer),
            ("Conversation roles must alternate user/assistant/user/assistant/...", RefusedRole::Unknown),
        ] {
            let body = serde_json::json!({"error": message}).to_string();
            let error = classify(&ReplyHead::new(500), body.as_bytes());
            assert_eq!(error.detail(), Some(ErrorDetail::Placement(role)), "{message}");
            assert!(!error.is_retryable());
        }
        let unpaired =
            classify(&ReplyHead::new(400), br#"{"message":"Not the same number of function calls and responses"}"#);
        assert_eq!((unpaired.kind(), unpaired.detail()), (Kind::InvalidRequest, None));
    }

    #[test]
    fn goes_by_the_status_where_the_words_say_nothing() {
        for (status, want) in [
            (401, Kind::Auth),
            (403, Kind::Auth),
            (404, Kind::InvalidRequest),
            (408, Kind::Timeout),
            (307, Kind::InvalidRequest),
            (500, Kind::Server),
            (529, Kind::Server),
            (501, Kind::InvalidRequest),
            (418, Kind::InvalidRequest),
        ] {
            assert_eq!(classify(&ReplyHead::new(status), b"?").kind(), want, "{status}");
        }
        assert_eq!(kind(404, "The model `x` does not exist"), Kind::ModelNotFound);
        assert_eq!(kind(400, "x is not a valid model ID"), Kind::ModelNotFound);
        assert_eq!(kind(404, "No endpoints found that support tool use."), Kind::InvalidRequest);
        assert_eq!(classify(&ReplyHead::new(500), br#"{"error":{"code":"429"}}"#).status(), Some(429));
    }

    #[test]
    fn recognises_refused_forms() {
        use ErrorDetail::{CallId, EmptyContent, MessageField, NullContent, StreamOptions};
        for (status, message, want) in [
            (400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", Some(CallId)),
            (400, "messages: text content blocks must be non-empty", Some(EmptyContent)),
            (400, "invalid message content type: <nil>", Some(NullContent)),
            (400, "Unknown parameter: 'stream_options'.", Some(StreamOptions)),
            (
                400,
                "property 'messages.2.assistant.reasoning_content' is unsupported",
                Some(MessageField("reasoning_content")),
            ),
            (400, "'messages.1' : property 'reasoning' is unsupported", Some(MessageField("reasoning"))),
            (422, "body.messages.1.user.name: Extra inputs are not permitted", Some(MessageField("name"))),
            (
                400,
                "Unknown name \"annotations\" at 'messages[1]': Cannot find field.",
                Some(MessageField("annotations")),
            ),
            (400, "Invalid schema: the function name is not supported in this message", None),
            (400, "tools.0.function.name.x: unexpected message", None),
            (429, "the message's 'name' is unsupported", None),
        ] {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            assert_eq!(classify(&ReplyHead::new(status), body.as_bytes()).detail(), want, "{message}");
        }
    }

    #[test]
    fn does_not_look_into_what_is_quoted_of_the_request() {
        let body = br#"{"detail":[{"loc":["body","model"],"msg":"required","input":"maximum context length"}]}"#;
        assert_eq!(classify(&ReplyHead::new(422), body).kind(), Kind::InvalidRequest);
    }
}
