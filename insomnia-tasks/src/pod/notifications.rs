use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;

use crate::{
    Item,
    interceptor::{Interceptor, RequestContext},
};

/// Messages of the host that wait for the next request.
#[derive(Clone, Debug, Default)]
pub(super) struct Notifications(Arc<Mutex<VecDeque<String>>>);

impl Notifications {
    pub(super) fn push(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(text);
    }

    /// Takes what waits.
    pub(super) fn take(&self) -> Vec<Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).map(Item::notification).collect()
    }
}

#[async_trait]
impl Interceptor for Notifications {
    async fn pending_history_appends(&self, _: &RequestContext<'_>) -> Vec<Item> {
        // no await follows: what is taken here is committed in the same piece
        self.take()
    }
}
