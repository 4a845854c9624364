//! What stands at the left of a block comment is not told.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/** Read a text file
 * of the workspace.
 *
 * * not a folder
 */
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {
    /**
     * Path below
     * the root.
     */
    path: String,
    /** Where to begin. */
    place: Place,
}

/**
 * A place.
 */
#[derive(Deserialize, JsonSchema)]
struct Place {
    /**
        The line,
        from 1.
    */
    line: u32,
}

/**
    Wait
    for it.
*/
#[derive(Deserialize, JsonSchema, Tool)]
struct Wait;

fn main() {
    assert_eq!(Read::DESCRIPTION, "Read a text file of the workspace.\n* not a folder");
    assert_eq!(Wait::DESCRIPTION, "Wait for it.");
    let told = Read::definition().parameters().get().to_owned();
    for text in [r#""Path below\nthe root.""#, r#""Where to begin.""#, r#""The line,\nfrom 1.""#] {
        assert!(told.contains(text), "{told}");
    }
    let read = Read::parse(r#"{"path": "a", "place": {"line": 1}}"#).unwrap();
    assert!(read.path == "a" && read.place.line == 1);
}
