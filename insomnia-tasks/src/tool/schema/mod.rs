//! Plain JSON schemas: the subset that every server takes.
//!
//! [`plain`] turns what schemars derives (or a host wrote by hand) into the form in which tool parameters are sent:
//! everything inlined, one `type` per node, enums as strings, optional fields left out of `required`, `properties`
//! spelled out even when empty, keys in declared order. What would only narrow a value further and is not understood
//! everywhere (`pattern`, `default` …) is left out, a known `format` is told in words. A value that may be written as text or
//! otherwise (`"type": ["string", "number"]`) is told as text. What cannot be said plainly is an error that names the place.
//!
//! ```
//! use insomnia_tasks::tool::schema::plain;
//! use serde_json::json;
//!
//! let derived = json!({
//!     "title": "Page",
//!     "type": "object",
//!     "properties": {"size": {"type": ["integer", "null"], "format": "uint32", "minimum": 0}},
//!     "required": [],
//! });
//! let sent = json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}}});
//! assert_eq!(plain(&derived)?, sent);
//! # Ok::<(), insomnia_tasks::tool::schema::SchemaError>(())
//! ```

mod doc;
mod error;
mod null;
mod object;
mod read;
mod render;
mod shape;
mod strict;
#[cfg(test)]
mod tests;
mod union;

pub use error::SchemaError;
pub use render::plain;

pub(super) use doc::undecorated;
pub(super) use null::allow_null;
pub(super) use read::read;
pub(super) use shape::{Kind, Property, Shape};
pub(super) use strict::strict;
