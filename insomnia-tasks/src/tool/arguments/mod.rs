//! Reads the arguments of a tool call as models really write them.
//!
//! Strict reading comes first, but for nulls; what follows is tried only where that fails, and only where it has one meaning:
//!
//! - [`parse_object`] finds the one JSON object in the text: nothing and `null` are `{}`, an object inside a JSON string or
//!   a code fence is taken out, an empty object before the real one and garbage after it are dropped, and backslashes and
//!   line breaks that were not escaped are repaired.
//! - Guided by the tool's schema, `"3"` and `3.0` become an integer, `"true"` a boolean, and a string that holds JSON an object
//!   or array where the schema wants one. Unknown fields are ignored unless the type denies them.
//! - An optional field that is null is absent: a serde default counts, be it `None` or not. So are `""` and `"null"`, unless the
//!   field can hold that text. A field that is not optional has to have a value.
//!
//! Anything else is an error that says what was expected, what came (at most 200 bytes of it), and that nothing was run.
//!
//! ```
//! use insomnia_tasks::tool::arguments::parse_object;
//!
//! assert!(parse_object("null")?.is_empty());
//! assert_eq!(parse_object(r#""{\"a\": 1}""#)?["a"], 1);
//! assert!(parse_object(r#"{"a": "cut o"#).is_err());
//! # Ok::<(), insomnia_tasks::ToolError>(())
//! ```

mod coerce;
mod escapes;
mod mend;
mod object;
mod parse;
#[cfg(test)]
mod tests;
mod text;
mod told;

pub use object::parse_object;
pub(super) use parse::parse;
pub(crate) use text::split_arguments;
pub use text::{MalformedArguments, echo_arguments, normalize_arguments};
