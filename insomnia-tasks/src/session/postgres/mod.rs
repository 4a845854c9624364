//! Sessions in Postgres, for services of many machines, where a session goes on wherever the next request lands.
//!
//! What was flushed is committed, an owner that lost its session can append nothing more, and an append whose answer was
//! lost happens exactly once. [`PostgresSessions`] opens, lists, reads and copies sessions; a [`PostgresStore`] keeps one.
//! The [guide](crate::guide::postgres) has examples, the set-up of a server, and what to know of leases, tables and poolers.

mod copy;
mod database;
mod error;
mod inbox;
mod migrate;
mod open;
mod read;
mod store;
mod tls;
mod writer;

pub use database::PostgresSessions;
pub use deadpool_postgres::Pool;
pub use error::{Failure, PostgresError};
pub use open::{OpenedPostgres, PostgresOptions};
pub use read::SessionInfo;
pub use store::PostgresStore;
