//! Sessions in Postgres, against servers that the tests start themselves on loopback.
//!
//! Where the server's programs are missing the tests say `skipped` and pass; with `INSOMNIA_TESTS_REQUIRE_ALL=1` they fail.
//! `tests/postgres/setup.sh` installs what is missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod broken;
mod conformance;
mod copies;
mod crash;
mod cuts;
mod dropped;
mod hostile;
mod inbox;
mod migrations;
mod out_of_turn;
mod pods;
mod pooler;
mod proxy;
mod refusals;
mod scarce;
mod schedules;
mod server;
mod storage;
mod tail;
mod two_processes;
