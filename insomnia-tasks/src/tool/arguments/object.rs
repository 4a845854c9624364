use serde_json::{Map, Value, error::Category};

use super::escapes::repair;
use crate::tool::{
    ToolError,
    clip::{ECHO, clip},
};

/// Finds the one JSON object in the arguments of a call.
///
/// # Errors
/// If there is none, more than one, or it is cut off.
pub fn parse_object(text: &str) -> Result<Map<String, Value>, ToolError> {
    match find(text, 0) {
        Ok(object) => Ok(object),
        // Repairs are the second choice: they must not change the meaning of what can be read as it is.
        Err(Problem::Syntax(problem)) => match repair(text) {
            Some(repaired) => find(&repaired, 0),
            None => Err(Problem::Syntax(problem)),
        },
        Err(problem) => Err(problem),
    }
    .map_err(|problem| problem.told(text))
}

/// How often arguments may be wrapped into JSON strings.
const MAX_WRAPPINGS: u8 = 2;

fn find(text: &str, wrappings: u8) -> Result<Map<String, Value>, Problem> {
    let mut rest = unfenced(trimmed(text));
    if rest.is_empty() {
        return Ok(Map::new());
    }
    let mut found: Option<Map<String, Value>> = None;
    loop {
        let value = next_value(&mut rest)?;
        match (value, &found) {
            (Value::Null, None) if rest.is_empty() => return Ok(Map::new()),
            (Value::String(inner), None) if rest.is_empty() && wrappings < MAX_WRAPPINGS => {
                return find(&inner, wrappings + 1);
            }
            // Some gateways put `{}` before the arguments, or send them twice.
            (Value::Object(object), None) => found = Some(object),
            (Value::Object(object), Some(before)) if before.is_empty() || *before == object => found = Some(object),
            (Value::Object(_), Some(_)) => return Err(Problem::Several),
            (other, _) => return Err(Problem::NoObject(kind(&other))),
        }
        if !rest.starts_with('{') {
            break;
        }
    }
    match found {
        Some(_) if rest.contains(['{', '[', '"']) => Err(Problem::Several),
        Some(object) => Ok(object),
        None => Err(Problem::NoObject("nothing")),
    }
}

fn next_value(rest: &mut &str) -> Result<Value, Problem> {
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            *rest = trimmed(rest.get(stream.byte_offset()..).unwrap_or_default());
            Ok(value)
        }
        Some(Err(error)) if error.classify() == Category::Eof => Err(Problem::CutOff),
        Some(Err(error)) => Err(Problem::Syntax(error.to_string())),
        None => Err(Problem::CutOff),
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// What a code fence holds, or the text itself where there is none.
fn unfenced(text: &str) -> &str {
    match text.strip_prefix("```") {
        Some(fenced) => {
            let inside = fenced.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            trimmed(inside.trim_end_matches('`'))
        }
        None => text,
    }
}

enum Problem {
    CutOff,
    Several,
    NoObject(&'static str),
    Syntax(String),
}

impl Problem {
    fn told(self, text: &str) -> ToolError {
        let came = clip(text, ECHO);
        ToolError::new(match self {
            Problem::CutOff => format!(
                "the arguments end before their JSON object does; nothing was run. Send the whole object again, shorter \
                 if it was cut off. What came: {came}"
            ),
            Problem::Several => format!(
                "the arguments must be one JSON object and nothing else; nothing was run. Make one call for each object. \
                 What came: {came}"
            ),
            Problem::NoObject(kind) => format!(
                "the arguments must be a JSON object such as {{\"name\": \"value\"}}, not {kind}; nothing was run. What \
                 came: {came}"
            ),
            Problem::Syntax(reason) => format!(
                "the arguments are not valid JSON ({reason}); nothing was run. Send one JSON object, with every \
                 backslash in a string written as \\\\. What came: {came}"
            ),
        })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
