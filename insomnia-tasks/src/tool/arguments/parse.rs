use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{coerce::coerce, object::parse_object, told::told};
use crate::tool::{Tool, ToolError, schema::read};

/// Reads the arguments of a tool: as they are, else brought closer to the tool's schema.
pub(crate) fn parse<T: Tool>(arguments: &str) -> Result<T, ToolError> {
    let mut value = Value::Object(parse_object(arguments)?);
    let problem = match deserialize(&value) {
        Ok(tool) => return Ok(tool),
        Err(problem) => problem,
    };
    let shape = T::try_definition().ok().and_then(|definition| {
        let schema = serde_json::from_str(definition.parameters().get()).ok()?;
        read(&schema).ok()
    });
    let Some(shape) = shape else { return Err(told::<T>(&problem, &value, None)) };
    if shape.is_empty_object() {
        // serde reads a unit struct from null only.
        return deserialize(&Value::Null).map_err(|_| told::<T>(&problem, &value, Some(&shape)));
    }
    coerce(&mut value, &shape);
    deserialize(&value).map_err(|problem| told::<T>(&problem, &value, Some(&shape)))
}

fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, serde_path_to_error::Error<serde_json::Error>> {
    serde_path_to_error::deserialize(value)
}
