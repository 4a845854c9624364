use std::cell::LazyCell;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    coerce::{coerce, drop_nulls},
    mend::mend,
    object::parse_object,
    told::told,
};
use crate::tool::{Tool, ToolError};

pub(super) type Problem = serde_path_to_error::Error<serde_json::Error>;

/// Reads the arguments of a tool: as they are, else brought closer to the tool's schema.
pub(crate) fn parse<T: Tool>(arguments: &str) -> Result<T, ToolError> {
    let mut value = Value::Object(parse_object(arguments)?);
    let definition = LazyCell::new(|| T::try_definition().ok());
    let shape = || definition.as_ref()?.shape();
    // Before all else: serde reads a null as `None`, also where the default is another.
    if holds_null(&value)
        && let Some(shape) = shape()
    {
        drop_nulls(&mut value, shape);
    }
    let problem = match deserialize(&value) {
        Ok(tool) => return Ok(tool),
        Err(problem) => problem,
    };
    let Some(shape) = shape() else { return Err(told::<T>(&problem, &value, None)) };
    if shape.is_empty_object() {
        // serde reads a unit struct from null only.
        return deserialize(&Value::Null).map_err(|_| told::<T>(&problem, &value, Some(shape)));
    }
    coerce(&mut value, shape);
    // Each repair is that of a field, in all entries of a list at once.
    loop {
        match deserialize(&value) {
            Ok(tool) => return Ok(tool),
            Err(problem) if mend(&mut value, shape, &problem) => {}
            Err(problem) => return Err(told::<T>(&problem, &value, Some(shape))),
        }
    }
}

fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value)
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}
