use serde_json::{Map, Value};

use super::{
    error::SchemaError,
    read::Reader,
    shape::{Kind, Property, Shape},
};

impl<'a> Reader<'a> {
    /// Reads structs, maps, and structs that take further fields.
    pub(super) fn object(&mut self, map: &'a Map<String, Value>) -> Result<Shape, SchemaError> {
        let required: Vec<_> = list(map.get("required")).filter_map(Value::as_str).collect();
        let mut properties = Vec::new();
        for (name, node) in entries(map.get("properties")) {
            if !is_valid_name(name) {
                return Err(SchemaError::FieldName { place: self.place(), name: name.clone() });
            }
            let shape = self.below(name, node)?;
            let required = required.contains(&name.as_str()) && !shape.nullable;
            properties.push(Property { name: name.clone(), required, shape });
        }
        let mut shape = Shape::of(Kind::Any);
        let others = match map.get("additionalProperties") {
            None | Some(Value::Bool(false)) => self.keyed(map.get("patternProperties"), &mut shape.notes)?,
            Some(others) => Some(self.below("*", others)?),
        };
        shape.kind = Kind::Object { properties, others: others.map(Box::new) };
        Ok(shape)
    }

    /// Maps whose keys must match a pattern: the plain form leaves the keys free and tells the pattern in words.
    fn keyed(&mut self, patterns: Option<&'a Value>, notes: &mut Vec<String>) -> Result<Option<Shape>, SchemaError> {
        let mut values: Option<Shape> = None;
        for (pattern, node) in entries(patterns) {
            let shape = self.below("*", node)?;
            match &values {
                Some(others) if *others != shape => return self.union_error(),
                _ => values = Some(shape),
            }
            notes.push(format!("Keys match `{pattern}`."));
        }
        Ok(values)
    }
}

/// Whether servers take it as the name of a field.
fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
