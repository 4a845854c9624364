use serde_json::{Map, Number, Value};

use super::{
    error::SchemaError,
    shape::{Bounds, Kind, Shape},
};

/// Reads a schema; references are followed inside `root`.
pub(crate) fn read(root: &Value) -> Result<Shape, SchemaError> {
    Reader { root, open: Vec::new(), place: Vec::new(), nodes: 0 }.node(root)
}

const MAX_NODES: usize = 4096;
const MAX_DEPTH: usize = 64;

/// Walks a schema; the nodes it stands in and the references it follows are what errors and recursion checks need.
pub(super) struct Reader<'a> {
    root: &'a Value,
    open: Vec<&'a Value>,
    place: Vec<String>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn node(&mut self, node: &'a Value) -> Result<Shape, SchemaError> {
        // A node met inside itself, by whatever chain of references.
        if self.open.iter().any(|open| std::ptr::eq(*open, node)) {
            return Err(SchemaError::Recursive { place: self.place() });
        }
        self.nodes += 1;
        if self.nodes > MAX_NODES || self.open.len() > MAX_DEPTH {
            return Err(SchemaError::TooLarge { place: self.place(), limit: MAX_NODES });
        }
        self.open.push(node);
        let shape = match node {
            Value::Bool(true) => Ok(Shape::of(Kind::Any)),
            Value::Bool(false) => Err(SchemaError::NoValue { place: self.place() }),
            Value::Object(map) => self.keywords(map),
            _ => self.invalid("a schema is an object"),
        };
        self.open.pop();
        shape
    }

    /// Reads what stands one step below, such as a property. It must be able to hold a value.
    pub(super) fn below(&mut self, step: &str, node: &'a Value) -> Result<Shape, SchemaError> {
        self.place.push(step.to_owned());
        let shape = match self.node(node) {
            Ok(Shape { kind: Kind::Null, .. }) => Err(SchemaError::NoValue { place: self.place() }),
            other => other,
        };
        self.place.pop();
        shape
    }

    fn keywords(&mut self, map: &'a Map<String, Value>) -> Result<Shape, SchemaError> {
        let combined = ["$ref", "anyOf", "oneOf", "allOf"].into_iter().find_map(|key| Some((key, map.get(key)?)));
        let mut shape = match combined {
            Some(_) if map.contains_key("properties") => return self.union_error(),
            Some(("$ref", reference)) => {
                let target = self.target(reference)?;
                self.node(target)?
            }
            Some(("allOf", Value::Array(parts))) => match parts.as_slice() {
                [part] => self.node(part)?,
                _ => return self.union_error(),
            },
            Some((_, Value::Array(alternatives))) => self.union(alternatives)?,
            Some(_) => return self.invalid("`anyOf`, `oneOf` and `allOf` hold lists"),
            None => self.typed(map)?,
        };
        if let Some(own) = map.get("description").and_then(Value::as_str).map(str::trim).filter(|own| !own.is_empty()) {
            shape.description = Some(own.to_owned());
        }
        Ok(shape)
    }

    fn target(&self, reference: &Value) -> Result<&'a Value, SchemaError> {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#')).map(percent_decoded);
        match pointer.and_then(|pointer| self.root.pointer(&pointer)) {
            Some(target) => Ok(target),
            None => self.invalid("`$ref` leads nowhere"),
        }
    }

    fn typed(&mut self, map: &'a Map<String, Value>) -> Result<Shape, SchemaError> {
        let mut types: Vec<&str> = match map.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            Some(_) => return self.invalid("`type` is a name or a list of names"),
            None => Vec::new(),
        };
        let named = types.len();
        types.retain(|name| *name != "null");
        let nullable = types.len() < named;
        let mut shape = match (types.as_slice(), map.get("enum"), map.get("const")) {
            (_, Some(Value::Array(values)), _) => self.values(&values.iter().collect::<Vec<_>>())?,
            (_, _, Some(value)) => self.values(&[value])?,
            ([], ..) if nullable => Shape::of(Kind::Null),
            ([], ..) => match untyped(map) {
                Some(name) => self.of_type(name, map)?,
                None => Shape::of(Kind::Any),
            },
            ([name], ..) => self.of_type(name, map)?,
            // One thing that may be written in several ways, such as a decimal number. Text can say all of it.
            (several, ..) if several.contains(&"string") => {
                let mut shape = self.of_type("string", map)?;
                let pattern = map.get("pattern").and_then(Value::as_str);
                shape.notes.extend(pattern.map(|pattern| format!("Matches `{pattern}`.")));
                shape
            }
            (["integer", "number"] | ["number", "integer"], ..) => self.of_type("number", map)?,
            _ => return self.union_error(),
        };
        shape.nullable |= nullable;
        Ok(shape)
    }

    fn of_type(&mut self, name: &str, map: &'a Map<String, Value>) -> Result<Shape, SchemaError> {
        let kind = match name {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer(integer_bounds(map)),
            "number" => Kind::Number(Bounds { min: number(map, "minimum"), max: number(map, "maximum") }),
            "string" => Kind::String { values: None, length: bounds(map, "minLength", "maxLength") },
            "array" => self.array(map)?,
            "object" => return self.object(map),
            _ => return self.invalid("`type` is not one of JSON Schema's"),
        };
        let mut shape = Shape::of(kind);
        match name {
            "string" => {
                shape.notes.extend(map.get("format").and_then(Value::as_str).and_then(format).map(str::to_owned))
            }
            "integer" | "number" => shape.notes.extend(exception(map)),
            _ => {}
        }
        Ok(shape)
    }

    fn array(&mut self, map: &'a Map<String, Value>) -> Result<Kind, SchemaError> {
        let mut length = bounds(map, "minItems", "maxItems");
        let items = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(entries)), _) | (None, Some(Value::Array(entries))) => {
                let shapes = entries.iter().map(|entry| self.below("[]", entry)).collect::<Result<Vec<_>, _>>()?;
                match shapes.split_first() {
                    Some((first, rest)) if rest.iter().all(|other| other == first) => {
                        let count = Some(shapes.len() as u64);
                        length = Bounds { min: count, max: count };
                        first.clone()
                    }
                    _ => return Err(SchemaError::Tuple { place: self.place() }),
                }
            }
            (_, Some(items)) => self.below("[]", items)?,
            (_, None) => Shape::of(Kind::Any),
        };
        Ok(Kind::Array { items: Box::new(items), length })
    }

    pub(super) fn place(&self) -> String {
        match self.place.as_slice() {
            [] => "the schema".to_owned(),
            steps => format!("`{}`", steps.join(".").replace(".[]", "[]")),
        }
    }

    pub(super) fn union_error<T>(&self) -> Result<T, SchemaError> {
        Err(SchemaError::Union { place: self.place() })
    }

    pub(super) fn invalid<T>(&self, reason: &'static str) -> Result<T, SchemaError> {
        Err(SchemaError::Invalid { place: self.place(), reason })
    }
}

/// The one number that is not taken, such as 0.
fn exception(map: &Map<String, Value>) -> Option<String> {
    let number = map.get("not")?.get("const")?.as_number()?;
    Some(format!("Not {number}."))
}

/// The type that a node without `type` is meant to have, where its other keywords tell.
fn untyped(map: &Map<String, Value>) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    if has(&["properties", "additionalProperties", "patternProperties"]) {
        Some("object")
    } else if has(&["items", "prefixItems"]) {
        Some("array")
    } else {
        None
    }
}

/// What a model is told of a string's format. The plain form has no keyword for it.
fn format(name: &str) -> Option<&'static str> {
    Some(match name {
        "date-time" => "A date and time with its offset, such as 2026-01-31T09:30:00Z.",
        "partial-date-time" => "A date and time without offset, such as 2026-01-31T09:30:00.",
        "zoned-date-time" => "A date and time with its time zone, such as 2026-01-31T09:30:00+01:00[Europe/Paris].",
        "date" => "A date, such as 2026-01-31.",
        "time" | "partial-time" => "A time of the day, such as 09:30:00.",
        "duration" => "A duration in ISO 8601, such as PT1H30M.",
        "uuid" => "A UUID.",
        "uri" | "url" => "An absolute URL.",
        "email" => "An e-mail address.",
        "ip" => "An IP address.",
        "ipv4" => "An IPv4 address.",
        "ipv6" => "An IPv6 address.",
        _ => return None,
    })
}

fn number(map: &Map<String, Value>, key: &str) -> Option<Number> {
    map.get(key)?.as_number().cloned()
}

fn bounds(map: &Map<String, Value>, min: &str, max: &str) -> Bounds<u64> {
    let read = |key| map.get(key).and_then(Value::as_u64);
    Bounds { min: read(min), max: read(max) }
}

fn integer_bounds(map: &Map<String, Value>) -> Bounds<Number> {
    let exclusive = |key, step| Some(Number::from(map.get(key)?.as_i64()?.checked_add(step)?));
    Bounds {
        min: number(map, "minimum").or_else(|| exclusive("exclusiveMinimum", 1)),
        max: number(map, "maximum").or_else(|| exclusive("exclusiveMaximum", -1)),
    }
}

/// Undoes the percent-encoding of a reference; what is not encoded properly stays as it is.
fn percent_decoded(reference: &str) -> String {
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        if let (b'%', Some(code)) = (byte, code) {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| reference.to_owned())
}
