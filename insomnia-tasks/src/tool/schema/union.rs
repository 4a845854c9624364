use serde_json::Value;

use super::{
    error::SchemaError,
    read::Reader,
    shape::{Bounds, Kind, Shape},
};

impl<'a> Reader<'a> {
    /// Reads `anyOf` and `oneOf` where they are only another way to say "or null" or "one of these strings".
    pub(super) fn union(&mut self, alternatives: &'a [Value]) -> Result<Shape, SchemaError> {
        let mut shapes = alternatives.iter().map(|node| self.node(node)).collect::<Result<Vec<_>, _>>()?;
        let nullable = shapes.iter().any(|shape| shape.nullable || shape.kind == Kind::Null);
        shapes.retain(|shape| shape.kind != Kind::Null);
        let mut shape = match shapes.len() {
            0 if nullable => Shape::of(Kind::Null),
            0 => return self.invalid("a list of alternatives is empty"),
            1 => shapes.remove(0),
            _ => self.string_enum(&shapes)?,
        };
        shape.nullable |= nullable;
        Ok(shape)
    }

    /// One string enum out of several; what was said of a single value becomes a note.
    fn string_enum(&self, shapes: &[Shape]) -> Result<Shape, SchemaError> {
        let (mut all, mut notes) = (Vec::new(), Vec::new());
        for shape in shapes {
            let Kind::String { values: Some(values), .. } = &shape.kind else { return self.union_error() };
            notes.extend(shape.notes.iter().cloned());
            if let ([value], Some(description)) = (values.as_slice(), &shape.description) {
                notes.push(format!("`{value}`: {}", first_paragraph(description)));
            }
            all.extend(values.iter().cloned());
        }
        let mut shape = Shape::of(strings(all));
        shape.notes = notes;
        Ok(shape)
    }

    /// Reads `enum` and `const`. Enums of numbers are told in words: some servers take strings only.
    pub(super) fn values(&self, values: &[&Value]) -> Result<Shape, SchemaError> {
        let present: Vec<_> = values.iter().filter(|value| !value.is_null()).collect();
        let nullable = present.len() < values.len();
        let mut shape = if present.is_empty() {
            Shape::of(if nullable { Kind::Null } else { return self.invalid("`enum` is empty") })
        } else if let Some(texts) = present.iter().map(|value| value.as_str()).collect::<Option<Vec<_>>>() {
            Shape::of(strings(texts.into_iter().map(str::to_owned).collect()))
        } else if present.iter().all(|value| value.is_i64() || value.is_u64()) {
            let list = present.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let mut shape = Shape::of(Kind::Integer(Bounds { min: None, max: None }));
            shape.notes.push(format!("One of {list}."));
            shape
        } else {
            return self.union_error();
        };
        shape.nullable |= nullable;
        Ok(shape)
    }
}

fn strings(mut values: Vec<String>) -> Kind {
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    Kind::String { values: Some(values), length: Bounds { min: None, max: None } }
}

fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
