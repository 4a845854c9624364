//! What the derive macros name. Not public API: macros and library are released together.

use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::definition::MAX_DESCRIPTION;
pub use super::{
    DecodeError, DefinitionError, IntoToolOutput, Run, RunToolbox, Tool, ToolDefinition, ToolError, ToolOutput, Toolbox,
};

/// What a type must be to be a tool, as one bound.
pub trait ToolArguments: DeserializeOwned + JsonSchema + Send + 'static {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArguments for T {}

/// The definition of one type of a generic tool, rendered once for each.
pub fn definition_of_generic<T: Tool>() -> Result<ToolDefinition, DefinitionError> {
    static RENDERED: Mutex<BTreeMap<TypeId, Result<ToolDefinition, DefinitionError>>> = Mutex::new(BTreeMap::new());
    let rendered = || RENDERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = rendered().get(&TypeId::of::<T>()) {
        return known.clone();
    }
    // Without the lock: a type may make its schema of another tool's definition. The first that is done is kept.
    let definition = ToolDefinition::of::<T>();
    rendered().entry(TypeId::of::<T>()).or_insert(definition).clone()
}

/// Turns what a tool returned into what the model sees.
pub fn finish(result: Result<impl IntoToolOutput, ToolError>) -> Result<ToolOutput, ToolError> {
    result.and_then(IntoToolOutput::into_tool_output)
}

/// The error of a toolbox that has no tool of this name.
pub fn unknown_tool(name: &str, known: &[&'static str]) -> DecodeError {
    DecodeError::Unknown { name: name.to_owned(), known: known.to_vec() }
}

/// Whether servers take this as the description of a tool.
pub const fn is_description(text: &str) -> bool {
    let bytes = text.trim_ascii().as_bytes();
    let (mut characters, mut at) = (0, 0);
    while at < bytes.len() {
        // all but the bytes that continue a character
        if bytes[at] & 0xc0 != 0x80 {
            characters += 1;
        }
        at += 1;
    }
    characters > 0 && characters <= MAX_DESCRIPTION
}

/// Whether the name at `index` stands earlier in the list too.
pub const fn is_repeated(names: &[&str], index: usize) -> bool {
    let mut earlier = 0;
    while earlier < index {
        if same(names[earlier].as_bytes(), names[index].as_bytes()) {
            return true;
        }
        earlier += 1;
    }
    false
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_bounds() {
        for (text, taken) in [
            ("Do it.".to_owned(), true),
            (format!("  {}\n", "ä".repeat(1024)), true),
            ("ä".repeat(1025), false),
            (" \n\t".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_description(&text), taken, "{text}");
        }
    }
}
