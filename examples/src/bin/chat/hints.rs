use insomnia_tasks::{
    wire::{ErrorDetail, ModelErrorKind},
    worker::TurnError,
};

/// Which flag to change after this error.
pub(crate) fn hint(error: &TurnError) -> Option<&'static str> {
    let error = match error {
        TurnError::Model(error) => error,
        TurnError::RequestLimit { .. } => return Some("--max-requests N allows more requests per turn"),
        _ => return None,
    };
    match (error.kind(), error.detail()) {
        (_, Some(ErrorDetail::Placement(_))) => Some(
            "--reminder auto finds the form that the server takes; merge is the one that no server is known to refuse",
        ),
        (_, Some(ErrorDetail::ToolsUnsupported)) => Some("choose a model that can call tools with --model"),
        (ModelErrorKind::ModelNotFound, _) => Some("name another model with --model or in OPENAI_MODEL"),
        (ModelErrorKind::Auth, _) => Some("give the key with --api-key or in OPENAI_API_KEY"),
        (ModelErrorKind::Connect, _) => {
            Some("is the server running, and is --base-url right? --demo needs no server of yours")
        }
        (ModelErrorKind::InvalidRequest, _) if matches!(error.status(), Some(404 | 405)) => {
            Some("--base-url usually ends in /v1")
        }
        (ModelErrorKind::Malformed, _) => {
            Some("--base-url must be an OpenAI-compatible server's; it usually ends in /v1")
        }
        (ModelErrorKind::Interrupted, _) => Some("send the prompt again; --no-stream asks for whole answers"),
        (ModelErrorKind::ContextLength, _) => {
            Some("/compact shortens what is sent; or start a new session with another --session folder")
        }
        _ => None,
    }
}
