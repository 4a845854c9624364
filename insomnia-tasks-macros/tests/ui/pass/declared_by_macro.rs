//! Doc comments and names may come through `macro_rules`, and names may be raw.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

macro_rules! tool {
    ($(#[$attr:meta])* $doc:literal $name:ident) => {
        $(#[$attr])*
        #[doc = $doc]
        #[derive(Deserialize, JsonSchema, Tool)]
        pub struct $name {}
    };
}

tool!(#[doc = "First."] "Second." Read);

/// Match a text.
#[derive(Deserialize, JsonSchema, Tool)]
#[allow(non_camel_case_types, reason = "a raw name is what is tested")]
pub struct r#match {
    /// What kind.
    pub r#type: Option<String>,
}

fn main() {
    assert_eq!(Read::DESCRIPTION, "First. Second.");
    assert_eq!(r#match::NAME, "match");
    assert!(r#match::definition().parameters().get().contains("\"type\":{\"type\":\"string\""));
}
