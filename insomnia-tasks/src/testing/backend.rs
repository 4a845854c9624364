use std::error::Error;

use async_trait::async_trait;

use crate::{
    Item,
    session::{Entry, EntryBody, Storage, StoredSession},
};

/// A back end that keeps sessions by name.
#[async_trait]
pub trait Backend: Sync {
    /// What keeps one session.
    type Store: Storage + 'static;

    /// Opens the session of this name, which consists of ASCII letters, digits and `-`, and makes it if absent.
    async fn open(&self, name: &str) -> Result<(Self::Store, StoredSession), BackendError>;

    /// Reads the session of this name as it is now, without opening it.
    async fn read(&self, name: &str) -> Result<StoredSession, BackendError>;

    /// Opens a session that another owner has open, and ends that one's ownership. None, the default, where that cannot be
    /// done; then nothing is checked of owners that lost their session.
    async fn take_over(&self, _name: &str) -> Option<Result<(Self::Store, StoredSession), BackendError>> {
        None
    }

    /// Leaves a message for a session, for [`Storage::inbox`]. None, the default, where that cannot be done; then nothing is
    /// checked of inboxes.
    async fn notify(&self, _name: &str, _text: &str) -> Option<Result<(), BackendError>> {
        None
    }
}

/// Any error.
pub type BackendError = Box<dyn Error + Send + Sync>;

/// Opens a session that nobody has open. A store that was dropped may need a moment to give it up.
#[allow(clippy::panic)] // how a rule that is broken shows
pub(super) async fn open<B: Backend>(backend: &B, name: &str) -> (B::Store, StoredSession) {
    let mut last = None;
    for _ in 0..200 {
        match backend.open(name).await {
            Ok(opened) => return opened,
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("`{name}` cannot be opened: {last:?}")
}

/// Reads a session that is there.
#[allow(clippy::panic)] // how a rule that is broken shows
pub(super) async fn read(backend: &impl Backend, name: &str) -> StoredSession {
    match backend.read(name).await {
        Ok(session) => session,
        Err(error) => panic!("`{name}` cannot be read: {error}"),
    }
}

/// Flushes where that must succeed.
#[allow(clippy::panic)] // how a rule that is broken shows
pub(super) async fn flush(store: &impl Storage) {
    if let Err(error) = store.flush().await {
        panic!("a flush failed: {error}");
    }
}

/// Closes where that must succeed.
#[allow(clippy::panic)] // how a rule that is broken shows
pub(super) async fn close(store: &impl Storage) {
    if let Err(error) = store.close().await {
        panic!("closing failed: {error}");
    }
}

/// A message that is an entry.
pub(super) fn message(seq: u64, text: impl Into<String>) -> Entry {
    Entry::new(seq, 1, EntryBody::Item(Item::user_message(text)))
}

/// The entries as lines.
pub(super) fn lines<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.to_json().unwrap_or_default()).collect()
}
