//! The embedded store: a folder whose `history.json` is a JSON array with one record a line.
//!
//! The file begins with `[` and the header, has a comma after every line but the last record's, and ends with a line
//! that is only `]`. A batch of entries is one positioned write over that last line, followed by `fdatasync`; only then
//! is it acknowledged. Entries that are written together carry `"batch":[first seq,last seq]`, so that after a crash the
//! last batch is found whole or is cut off whole.

mod blobs;
mod create;
mod damage;
mod disk;
mod error;
mod lock;
mod open;
mod real_disk;
mod reserve;
mod scan;
mod store;
mod writer;

#[cfg(test)]
mod blob_tests;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod script_tests;
#[cfg(test)]
mod sim_disk;
#[cfg(test)]
mod tests;

pub use damage::Damage;
pub use error::{OpenError, OpenErrorKind};
pub use lock::Holder;
pub use open::{Durability, FileOptions, Opened, StoredSession};
pub use store::FileStore;
