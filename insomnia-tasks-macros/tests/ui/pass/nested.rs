//! Structs and enums inside of fields are written out.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The line.
    line: i64,
}

/// How.
#[derive(Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Only look.
    JustLook,
    Edit,
}

/// Do it.
#[derive(Deserialize, JsonSchema, Tool)]
struct T {
    places: Vec<Place>,
    mode: Option<Mode>,
}

fn main() {
    let schema = r#"{"type":"object","properties":{"places":{"type":"array","items":{"type":"object","description":"Where.","properties":{"line":{"type":"integer","description":"The line."}},"required":["line"]}},"mode":{"type":"string","description":"How.\n`just_look`: Only look.","enum":["edit","just_look"]}},"required":["places"]}"#;
    assert_eq!(T::definition().parameters().get(), schema);
    let read = T::parse(r#"{"places": [{"line": 1}], "mode": "edit"}"#).unwrap();
    assert!(read.places[0].line == 1 && read.mode == Some(Mode::Edit));
}
