//! What every storage of sessions must hold, as tests that any back end can run: Redis, an object store, SQLite.
//!
//! Implement [`Backend`] for the back end, and call [`check_storage`] in a test. It panics at the first rule that is broken,
//! and says which. The file and the Postgres stores of this crate both run it, and so do stores that are broken on purpose, one
//! for each rule.
//!
//! A back end whose sessions can be taken over, or that keeps messages of other processes, implements the methods for that
//! too: what is asked of them is part of the rules then.
//!
//! ```
//! use async_trait::async_trait;
//! use insomnia_tasks::{
//!     session::{FileOptions, FileStore, StoredSession},
//!     testing::{Backend, BackendError, check_storage},
//! };
//!
//! struct Folders(tempfile::TempDir);
//!
//! #[async_trait]
//! impl Backend for Folders {
//!     type Store = FileStore;
//!
//!     async fn open(&self, name: &str) -> Result<(FileStore, StoredSession), BackendError> {
//!         let opened = FileStore::open(&self.0.path().join(name), FileOptions::new())?;
//!         Ok((opened.store, opened.session))
//!     }
//!
//!     async fn read(&self, name: &str) -> Result<StoredSession, BackendError> {
//!         Ok(FileStore::read(&self.0.path().join(name))?)
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! check_storage(&Folders(tempfile::tempdir()?)).await;
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod backend;
mod bytes;
mod flushes;
mod inbox;
mod owners;
mod schedule;

pub use backend::{Backend, BackendError};

/// Checks every rule. Takes some seconds on a slow disk.
///
/// # Panics
/// If a rule is broken; the message says which.
pub async fn check_storage(backend: &impl Backend) {
    bytes::what_was_given_comes_back_byte_for_byte(backend).await;
    bytes::a_large_batch_is_kept(backend).await;
    flushes::a_new_session_is_empty(backend).await;
    flushes::what_was_flushed_is_there_and_what_was_not_is_not(backend).await;
    flushes::an_entry_given_twice_is_kept_once(backend).await;
    flushes::a_dropped_flush_loses_and_doubles_nothing(backend).await;
    flushes::appends_during_a_flush_are_kept_by_the_next(backend).await;
    owners::one_owner_at_a_time(backend).await;
    owners::a_closed_session_takes_nothing_more(backend).await;
    owners::sessions_do_not_mix(backend).await;
    owners::an_owner_that_lost_its_session_writes_nothing(backend).await;
    inbox::a_message_stays_until_it_is_taken_in(backend).await;
    inbox::a_message_reaches_the_next_owner(backend).await;
    schedule::any_order_of_calls_leaves_what_was_acknowledged(backend).await;
}
