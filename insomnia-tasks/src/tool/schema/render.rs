use serde_json::{Map, Value};

use super::{
    error::SchemaError,
    read::read,
    shape::{Bounds, Kind, Property, Shape},
};

/// Characters of a description that every server takes.
const MAX_DESCRIPTION: usize = 1024;

/// Renders a schema for a tool's parameters in the plain form. Rendering a plain schema changes nothing.
///
/// - `Option<T>` becomes `T` and is not required. Inside lists and maps the "or null" is dropped: a model is told `T`,
///   and a null is still understood.
/// - `serde_json::Value` becomes a node without `type`, always with a description. `true` is refused by llama.cpp and
///   others, `{}` is read as an object by it; a node with nothing but a description means any value to both of them.
/// - The docs of an enum's variants are added to the description of the enum.
/// - Descriptions longer than 1,024 characters are cut.
///
/// # Errors
/// If the schema is not an object's, or says what the plain form cannot say: a type that contains itself, a value of
/// several types, a tuple of different types.
pub fn plain(schema: &Value) -> Result<Value, SchemaError> {
    let shape = read(schema)?;
    match shape.kind {
        Kind::Object { .. } => Ok(node(&shape)),
        // A unit struct: no arguments.
        Kind::Null => Ok(node(&Shape { kind: Kind::Object { properties: Vec::new(), others: None }, ..shape })),
        other => Err(SchemaError::Root { found: other.name() }),
    }
}

fn node(shape: &Shape) -> Value {
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| map.insert(key.to_owned(), value);
    let kind = match &shape.kind {
        Kind::Any | Kind::Null => None,
        Kind::Boolean => Some("boolean"),
        Kind::Integer(_) => Some("integer"),
        Kind::Number(_) => Some("number"),
        Kind::String { .. } => Some("string"),
        Kind::Array { .. } => Some("array"),
        Kind::Object { .. } => Some("object"),
    };
    if let Some(kind) = kind {
        set("type", kind.into());
    }
    let description = description(shape);
    if !description.is_empty() {
        set("description", description.into());
    } else if kind.is_none() {
        set("description", "Any JSON value.".into());
    }
    match &shape.kind {
        Kind::Any | Kind::Null | Kind::Boolean => {}
        Kind::Integer(bounds) | Kind::Number(bounds) => limits(&mut map, bounds, "minimum", "maximum"),
        Kind::String { values, length } => {
            if let Some(values) = values {
                set("enum", values.clone().into());
            }
            limits(&mut map, length, "minLength", "maxLength");
        }
        Kind::Array { items, length } => {
            set("items", node(items));
            limits(&mut map, length, "minItems", "maxItems");
        }
        Kind::Object { properties, others } => object(&mut map, properties, others.as_deref()),
    }
    Value::Object(map)
}

fn object(map: &mut Map<String, Value>, properties: &[Property], others: Option<&Shape>) {
    let fields: Map<_, _> = properties.iter().map(|field| (field.name.clone(), node(&field.shape))).collect();
    map.insert("properties".to_owned(), fields.into());
    let required: Vec<_> = properties.iter().filter(|field| field.required).map(|field| field.name.clone()).collect();
    // Draft 4 validators refuse an empty list.
    if !required.is_empty() {
        map.insert("required".to_owned(), required.into());
    }
    if let Some(others) = others {
        map.insert("additionalProperties".to_owned(), node(others));
    }
}

fn limits<T: Clone + Into<Value>>(map: &mut Map<String, Value>, bounds: &Bounds<T>, min: &str, max: &str) {
    for (key, bound) in [(min, &bounds.min), (max, &bounds.max)] {
        if let Some(bound) = bound {
            map.insert(key.to_owned(), bound.clone().into());
        }
    }
}

fn description(shape: &Shape) -> String {
    let parts = shape.description.iter().chain(&shape.notes).map(String::as_str);
    let text = parts.collect::<Vec<_>>().join("\n");
    match text.char_indices().nth(MAX_DESCRIPTION) {
        None => text,
        Some(_) => text.chars().take(MAX_DESCRIPTION - 1).chain(['…']).collect(),
    }
}
