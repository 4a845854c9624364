use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    Item,
    interceptor::{Interceptor, RequestContext},
    session::Ledger,
};

/// Takes in what other processes left for the session.
pub(super) struct Inbox(Arc<Ledger>);

impl Inbox {
    pub(super) fn new(ledger: &Arc<Ledger>) -> Self {
        Self(Arc::clone(ledger))
    }
}

#[async_trait]
impl Interceptor for Inbox {
    async fn pending_history_appends(&self, _: &RequestContext<'_>) -> Vec<Item> {
        self.0.take_inbox().await.unwrap_or_else(|error| {
            // the messages wait for the next request, and what is wrong shows in the flush before this one
            tracing::debug!(%error, "the inbox could not be read");
            Vec::new()
        })
    }
}
