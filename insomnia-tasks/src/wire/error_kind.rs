use std::time::Duration;

/// What went wrong in a call of the model, as far as the caller can act on it.
///
/// What leads to each, and what to do then, is in the [guide](crate::guide::errors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The API key is missing, wrong, or not allowed to do this.
    Auth,
    /// Too many requests or tokens in a short time.
    RateLimited {
        /// How long the server asks to wait; it may be hours.
        retry_after: Option<Duration>,
    },
    /// The conversation does not fit into the model's context.
    ContextLength,
    /// The server refuses this request, and will refuse it again.
    InvalidRequest,
    /// There is no such model.
    ModelNotFound,
    /// No credit or quota is left.
    Billing,
    /// The server failed or is overloaded.
    Server,
    /// The reply cannot be read, or is empty.
    Malformed,
    /// The stream ended before the answer did.
    Interrupted,
    /// The server took too long.
    Timeout,
    /// No connection to the server.
    Connect,
}

/// More about an error, where there is something to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorDetail {
    /// A message stands where this server does not take one of its role.
    Placement(RefusedRole),
    /// `content: null` of an assistant message was refused.
    NullContent,
    /// Empty `content` of an assistant message was refused.
    EmptyContent,
    /// The form of a tool call's id was refused.
    CallId,
    /// A field of a message was refused; its name.
    MessageField(&'static str),
    /// `stream_options` was refused.
    StreamOptions,
    /// The model has no tools.
    ToolsUnsupported,
    /// The request has too many bytes for the server or a proxy before it.
    PayloadTooLarge,
    /// The request alone is larger than what the account may send in a minute.
    RequestOverRateCap,
    /// The server gave no reason; the kind is what it usually means.
    Guessed,
}

/// The role of the message whose place was refused, as far as the server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedRole {
    /// A system message that is not the first, or any.
    System,
    /// Any developer message.
    Developer,
    /// A user message, after a tool result or after another user message.
    User,
    /// An assistant message at the end.
    Assistant,
    /// The server does not say, or only that the roles do not alternate.
    Unknown,
}
