//! Descriptions that only the compiler knows.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

const READ: &str = concat!("Read a text file ", "below `/work`.\n");
const WORDS: [&str; 2] = ["Wait.", "Write."];

#[doc = include_str!("description.md")]
#[derive(Deserialize, JsonSchema, Tool)]
struct FromFile {
    #[doc = include_str!("description.md")]
    path: String,
}

/// Read it:
#[doc = concat!("line ", "by line.")]
#[derive(Deserialize, JsonSchema, Tool)]
struct Mixed;

/// For readers.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(description = READ)]
struct Constant {}

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(description = WORDS[1])]
struct Computed<T> {
    what: T,
}

macro_rules! tool {
    ($name:ident, $description:expr) => {
        #[derive(Deserialize, JsonSchema, Tool)]
        #[tool(description = $description)]
        struct $name {}
    };
}
tool!(Literal, "Find it.");
tool!(Named, READ);

fn main() {
    let file = "Read a text file\nof the workspace.\n\n- Not for folders.";
    assert_eq!(FromFile::DESCRIPTION, file);
    let told = FromFile::definition();
    assert!(told.parameters().get().contains("Not for folders."), "{told:?}");
    assert_eq!(Mixed::DESCRIPTION, "Read it:\nline by line.");
    assert_eq!(Constant::DESCRIPTION, "Read a text file below `/work`.");
    assert_eq!(Computed::<u8>::DESCRIPTION, "Write.");
    assert_eq!((Literal::DESCRIPTION, Named::DESCRIPTION), ("Find it.", Constant::DESCRIPTION));
    let read = FromFile::parse(r#"{"path": "a"}"#).unwrap();
    let computed = Computed::<u8>::parse(r#"{"what": 1}"#).unwrap();
    assert!(read.path == "a" && computed.what == 1);
}
