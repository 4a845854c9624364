use serde_json::Value;
use serde_path_to_error::Segment;

use super::{mend::missing_field, parse::Problem};
use crate::tool::{
    Tool, ToolError,
    clip::{ECHO, clip, clip_message},
    schema::{Kind, Shape},
};

/// Bytes of [`ECHO`] that the path of a field may take; a map's keys in it are the model's.
const PATH: usize = 80;

/// What the model is told of arguments that do not fit: which field, what was expected, what came.
pub(super) fn told<T: Tool>(problem: &Problem, value: &Value, shape: Option<&Shape>) -> ToolError {
    let reason = problem.inner().to_string();
    let path = match problem.path().to_string() {
        path if path != "." && !problem.path().iter().any(|step| matches!(step, Segment::Unknown)) => path,
        // serde loses the way to the fields of a flattened struct, and the key of a map that is no string
        _ if reason.starts_with("invalid ") => shape.and_then(|shape| misfit(value, shape)).unwrap_or_default(),
        _ => String::new(),
    };
    let place = shape.and_then(|shape| at(value, shape, problem.path().iter()));
    ToolError::new(format!(
        "the arguments do not fit {}: {}; nothing was run",
        T::NAME,
        sentence(&path, &reason, place)
    ))
}

fn sentence(path: &str, reason: &str, place: Option<(&Value, &Shape)>) -> String {
    let path = clip(path, PATH);
    if let Some(name) = missing_field(reason) {
        let dot = if path.is_empty() { "" } else { "." };
        return format!("missing field `{path}{dot}{name}`");
    }
    let reason = match reason.split_once(' ').zip(reason.rsplit_once(", expected ")) {
        Some((("invalid", _), (came, expected))) => {
            let came =
                came.strip_prefix("invalid type: ").or_else(|| came.strip_prefix("invalid value: ")).unwrap_or(came);
            format!("expected {}, but {} came", clip(&wanted(expected), ECHO), clip(&came_in(came), ECHO - PATH))
        }
        // the list is the tool's own
        Some((("unknown", _), (came, expected))) => {
            format!("{}, expected {}", clip(came, ECHO - PATH), clip(expected, 1000))
        }
        _ => by_the_type(reason, place),
    };
    if path.is_empty() { reason } else { format!("`{path}`: {reason}") }
}

/// What a type says of a text that it cannot read, such as a date, with what it leaves out: the text, and what the model was
/// told of the field.
fn by_the_type(reason: &str, place: Option<(&Value, &Shape)>) -> String {
    let told = clip_message(reason, ECHO - PATH);
    let Some((Value::String(text), shape)) = place else { return told.into_owned() };
    let mut more = Vec::new();
    let room = ECHO - PATH - told.len();
    if room > 0 && !reason.contains(text.as_str()) {
        more.push(format!("the string {} came", clip(&format!("{:?}", clip(text, room)), room)));
    }
    if let Some(description) = &shape.description {
        let line = description.replace('\n', " ");
        more.push(format!("expected: {}", clip(line.trim_end_matches('.'), ECHO)));
    }
    if more.is_empty() { told.into_owned() } else { format!("{told} ({})", more.join("; ")) }
}

/// The value and its schema at the end of a path.
fn at<'a>(
    value: &'a Value,
    shape: &'a Shape,
    mut path: impl Iterator<Item = &'a Segment>,
) -> Option<(&'a Value, &'a Shape)> {
    match (path.next(), &shape.kind) {
        (None, _) => Some((value, shape)),
        (Some(Segment::Seq { index }), Kind::Array { items, .. }) => at(value.get(index)?, items, path),
        (Some(Segment::Map { key }), Kind::Object { properties, others }) => {
            let field = properties.iter().find(|field| field.name == *key);
            at(value.get(key)?, field.map(|field| &field.shape).or(others.as_deref())?, path)
        }
        _ => None,
    }
}

/// serde's words for what it wanted, without those that only Rust has.
fn wanted(expected: &str) -> String {
    let (bare, suffix) = match expected.strip_prefix("a nonzero ") {
        Some(bare) => (bare, " but not 0"),
        None => (expected, ""),
    };
    let words = match bare {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "u128" | "usize" => "a whole number from 0",
        "i8" => "a whole number from -128 to 127",
        "i16" => "a whole number from -32768 to 32767",
        "i32" => "a whole number from -2147483648 to 2147483647",
        "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        "fewer elements in array" => "fewer entries",
        _ if bare.starts_with("struct ") => "an object",
        other => match entries(other) {
            Some(count) => return format!("a list of {count}"),
            None => other,
        },
    };
    format!("{words}{suffix}")
}

/// How many entries serde's words for a tuple or an array want.
fn entries(expected: &str) -> Option<&str> {
    let of_struct = || expected.strip_prefix("tuple struct ")?.strip_suffix(" elements")?.rsplit_once(" with ");
    let plain = expected.strip_prefix("a tuple of size ").or_else(|| expected.strip_prefix("an array of length "));
    plain.or_else(|| Some(of_struct()?.1))
}

fn came_in(came: &str) -> String {
    if let Some(count) = came.strip_prefix("invalid length ") {
        return format!("a list of {count}");
    }
    match came {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit value" => "null".to_owned(),
        other => format!("the {other}"),
    }
}

/// The path of the first value whose type is not the schema's.
fn misfit(value: &Value, shape: &Shape) -> Option<String> {
    match (value, &shape.kind) {
        (Value::Object(object), Kind::Object { properties, others }) => object.iter().find_map(|(name, value)| {
            let field = properties.iter().find(|field| field.name == *name);
            let shape = field.map(|field| &field.shape).or(others.as_deref())?;
            Some(join(name, &misfit(value, shape)?))
        }),
        (Value::Array(values), Kind::Array { items, .. }) => values
            .iter()
            .enumerate()
            .find_map(|(index, value)| Some(join(&format!("[{index}]"), &misfit(value, items)?))),
        (Value::Null, _) | (_, Kind::Any) => None,
        (Value::Bool(_), Kind::Boolean)
        | (Value::Number(_), Kind::Integer(_) | Kind::Number(_))
        | (Value::String(_), Kind::String { .. }) => None,
        _ => Some(String::new()),
    }
}

fn join(step: &str, rest: &str) -> String {
    let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
    format!("{step}{dot}{rest}")
}
