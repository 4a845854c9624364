//! `chat` on sessions in Postgres, against servers that the tests start themselves; see `tests/tests/postgres`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

#[allow(dead_code)] // shared with the tests of `chat` on folders
#[path = "../chat/place.rs"]
mod place;
#[allow(dead_code)] // shared with the tests of the library
#[path = "../../../tests/tests/postgres/server.rs"]
mod server;

mod guide;
mod sessions;
mod tls;
