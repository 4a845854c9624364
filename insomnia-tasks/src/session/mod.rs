//! Sessions on disk: what is recorded, where it goes, and how it is found again.
//!
//! A session is a list of records: a [`Header`], then one [`Entry`] after the other, numbered from 1 and never changed.
//! A [`Storage`] keeps them. [`FileStore`] is the embedded one: a folder whose `history.json` is valid JSON at every
//! commit and can be repaired to the last acknowledged record at any other moment.
//!
//! ```
//! use insomnia_tasks::{Item, session::{Entry, EntryBody, FileOptions, FileStore, Storage}};
//!
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("session");
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let opened = FileStore::open(&dir, FileOptions::new().instructions("Be brief."))?;
//! let seq = opened.session.next_seq;
//! opened.store.append(&Entry::new(seq, 1, EntryBody::Item(Item::user_message("hi"))));
//! opened.store.flush().await?; // the entry is on disk now
//! opened.store.close().await?;
//!
//! let session = FileStore::read(&dir)?;
//! assert_eq!(session.header.instructions.as_deref(), Some("Be brief."));
//! assert_eq!(session.entries.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod branch;
mod compact;
mod digest;
mod file;
mod ids;
mod ledger;
mod line;
mod past;
#[cfg(feature = "postgres")]
pub mod postgres;
mod record;
mod storage;

#[cfg(test)]
mod fold_tests;

pub(crate) use ledger::{EarlierError, Ledger};

pub use compact::{Compact, CompactTasks};
pub use file::{Damage, Durability, FileOptions, FileStore, Holder, OpenError, OpenErrorKind, Opened, StoredSession};
pub use past::Session;
pub use record::{Entry, EntryBody, FORMAT, Header, Parent, RecordError};
pub use storage::{InboxMessage, NoStorage, Storage, StorageError, StorageErrorKind};
