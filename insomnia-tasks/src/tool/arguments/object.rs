use serde_json::{Map, Value};

use super::text::normalize_arguments;
use crate::tool::{
    ToolError,
    clip::{ECHO, clip},
};

/// Finds the one JSON object in the arguments of a call, as [`normalize_arguments`] does.
///
/// # Errors
/// If there is none, more than one, or it is cut off. The message tells what came, and that nothing was run.
pub fn parse_object(text: &str) -> Result<Map<String, Value>, ToolError> {
    let told = |problem: String| ToolError::new(format!("{problem}; nothing was run. What came: {}", clip(text, ECHO)));
    let object = normalize_arguments(text).map_err(|problem| told(problem.to_string()))?;
    serde_json::from_str(&object).map_err(|problem| told(problem.to_string()))
}
