#![doc = include_str!("../../docs/postgres.md")]

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
