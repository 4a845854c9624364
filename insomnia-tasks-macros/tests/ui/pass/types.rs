//! Types that schemars knows.
#![deny(warnings)]

use std::{
    net::IpAddr,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    path: PathBuf,
    address: IpAddr,
    span: Duration,
    since: Option<SystemTime>,
    shared: Box<str>,
    at: chrono::DateTime<chrono::Utc>,
    day: chrono::NaiveDate,
    id: uuid::Uuid,
}

fn main() {
    let arguments = r#"{"path": "a", "address": "::1", "span": {"secs": 1, "nanos": 0}, "shared": "s",
        "at": "2026-01-31T09:30:00Z", "day": "2026-01-31", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}"#;
    let read = T::parse(arguments).unwrap();
    assert_eq!((read.span.as_secs(), &*read.shared, read.since), (1, "s", None));
    assert!(read.path.ends_with("a") && read.address.is_ipv6() && read.id.get_version_num() == 7);
    assert_eq!((read.at.to_rfc3339(), read.day.to_string()), ("2026-01-31T09:30:00+00:00".into(), "2026-01-31".into()));
    let told = T::definition().parameters().get().to_owned();
    assert!(told.contains(r#""day":{"type":"string","description":"A date, such as 2026-01-31."}"#), "{told}");
}
