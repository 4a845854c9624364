use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform},
};
use serde::{Serialize, Serializer};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{
    schema::{self, SchemaError, Shape, allow_null, plain, strict, undecorated},
    tool::Tool,
};

/// A tool as the model is told of it. Rendered once, cheap to clone; serializes as the entry of a request's `tools`.
///
/// ```
/// use insomnia_tasks::ToolDefinition;
/// use serde_json::json;
///
/// let tool = ToolDefinition::new("Now", "Tell the current time.", json!({"type": "object"}))?;
/// let entry = r#"{"type":"function","function":{"name":"Now","description":"Tell the current time.","parameters":{"type":"object","properties":{}}}}"#;
/// assert_eq!(tool.raw().get(), entry);
/// # Ok::<(), insomnia_tasks::tool::DefinitionError>(())
/// ```
#[derive(Clone)]
pub struct ToolDefinition {
    shared: Arc<Rendered>,
}

struct Rendered {
    name: String,
    description: String,
    parameters: Box<RawValue>,
    raw: Box<RawValue>,
    // rendered when a dialect first asks for it
    or_null: OnceLock<Option<Box<RawValue>>>,
    // rendered when a strict dialect first asks for it; None inside where strict mode cannot say it
    strict: OnceLock<Option<Box<RawValue>>>,
    // read when a call's arguments first need it
    shape: OnceLock<Option<Shape>>,
}

impl ToolDefinition {
    /// A definition made at run time. `parameters` is the JSON schema of the arguments; it is brought into the
    /// [plain form](plain).
    ///
    /// # Errors
    /// If a server would refuse the name, the description or the schema.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
    ) -> Result<Self, DefinitionError> {
        let (name, description) = (name.into(), description.into());
        if !is_valid_name(&name) {
            return Err(DefinitionError::Name { name });
        }
        let length = description.chars().count();
        if description.trim().is_empty() || length > MAX_DESCRIPTION {
            return Err(DefinitionError::Description { name, length });
        }
        let schema_error = |source| DefinitionError::Schema { name: name.clone(), source };
        let parameters = plain(&parameters).map_err(schema_error)?;
        let json_error =
            |error: serde_json::Error| DefinitionError::Json { name: name.clone(), reason: error.to_string() };
        let parameters = to_raw_value(&parameters).map_err(json_error)?;
        let function = Function { name: &name, description: &description, parameters: &parameters, strict: None };
        let raw = to_raw_value(&Entry { kind: "function", function }).map_err(json_error)?;
        Ok(Self {
            shared: Arc::new(Rendered {
                name,
                description,
                parameters,
                raw,
                or_null: OnceLock::new(),
                strict: OnceLock::new(),
                shape: OnceLock::new(),
            }),
        })
    }

    /// The definition of a tool type, rendered anew; [`Tool::try_definition`] keeps it.
    ///
    /// # Errors
    /// If the type's schema has no plain form, or its name or description were written by hand and are refused.
    pub fn of<T: Tool>() -> Result<Self, DefinitionError> {
        let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
        // The tool's own description says it.
        schema.remove("description");
        RecursiveTransform(tidy).transform(&mut schema);
        Self::new(T::NAME, T::DESCRIPTION, schema.to_value())
    }

    /// The name by which the model calls the tool.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// What the tool does, told to the model.
    pub fn description(&self) -> &str {
        &self.shared.description
    }

    /// The JSON schema of the arguments, in the plain form.
    pub fn parameters(&self) -> &RawValue {
        &self.shared.parameters
    }

    /// The whole entry of a request's `tools`.
    pub fn raw(&self) -> &RawValue {
        &self.shared.raw
    }

    /// The same entry for strict mode: `"strict": true`, no further fields, every field required, and `null` allowed where
    /// one is optional. Where strict mode cannot express the schema, because it takes any value, has free keys, more than 10
    /// levels or more than 1,000 enum values, it is the plain entry.
    pub fn strict(&self) -> &RawValue {
        self.shared.strict.get_or_init(|| self.render(strict, Some(true))).as_deref().unwrap_or(&self.shared.raw)
    }

    /// The plain entry, but with `null` allowed where a field is optional (`"type": ["string", "null"]`): for servers that
    /// refuse the `null` that a model writes there. Some servers do not take a list of types, so it is not the default.
    pub fn allow_null(&self) -> &RawValue {
        let render = || self.render(|plain| Some(allow_null(plain)), None);
        self.shared.or_null.get_or_init(render).as_deref().unwrap_or(&self.shared.raw)
    }

    /// What the parameters say, to read arguments by.
    pub(super) fn shape(&self) -> Option<&Shape> {
        let read = || schema::read(&serde_json::from_str(self.shared.parameters.get()).ok()?).ok();
        self.shared.shape.get_or_init(read).as_ref()
    }

    fn render(&self, form: fn(&Value) -> Option<Value>, strict: Option<bool>) -> Option<Box<RawValue>> {
        let plain = serde_json::from_str(self.shared.parameters.get()).ok()?;
        let parameters = to_raw_value(&form(&plain)?).ok()?;
        let Rendered { name, description, .. } = &*self.shared;
        let function = Function { name, description, parameters: &parameters, strict };
        to_raw_value(&Entry { kind: "function", function }).ok()
    }
}

/// Takes off the descriptions what only readers of the code have of it.
fn tidy(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = undecorated(description).into_owned();
    }
}

/// Characters that a tool's description may have on every server.
pub(super) const MAX_DESCRIPTION: usize = 1024;

fn is_valid_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shared.raw.serialize(serializer)
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolDefinition").field(&self.raw().get()).finish()
    }
}

impl PartialEq for ToolDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.raw().get() == other.raw().get()
    }
}

impl Eq for ToolDefinition {}

/// Why something cannot be offered as a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// Servers refuse the name.
    #[error("the tool name {name:?} is refused by servers: use a letter, then at most 63 letters, digits, `_` or `-`")]
    Name {
        /// The name.
        name: String,
    },
    /// The description is empty or too long.
    #[error("the description of tool `{name}` has {length} characters: say what it does in 1 to 1024 characters")]
    Description {
        /// The tool.
        name: String,
        /// Characters in the description.
        length: usize,
    },
    /// The parameters cannot be told to every server.
    #[error("the parameters of tool `{name}` have no plain JSON schema: {source}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong, and where.
        source: SchemaError,
    },
    /// The definition cannot be written as JSON.
    #[error("the definition of tool `{name}` cannot be written as JSON: {reason}")]
    Json {
        /// The tool.
        name: String,
        /// What serde says.
        reason: String,
    },
}

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name_error(name: &str) -> bool {
        let made = ToolDefinition::new(name, "Does it.", json!({"type": "object"}));
        matches!(made, Err(DefinitionError::Name { .. }))
    }

    #[test]
    fn refuses_names_that_servers_refuse() {
        for bad in ["", "1a", "_a", "a.b", "a b", "ä", &"a".repeat(65)] {
            assert!(name_error(bad), "{bad}");
        }
        for good in ["a", "A-b_9", &"a".repeat(64)] {
            assert!(!name_error(good), "{good}");
        }
    }

    #[test]
    fn refuses_descriptions_out_of_bounds() {
        let make = |text: String| ToolDefinition::new("t", text, json!({"type": "object"}));
        assert!(make("ä".repeat(1024)).is_ok());
        assert!(matches!(make("ä".repeat(1025)), Err(DefinitionError::Description { length: 1025, .. })));
        assert!(matches!(make(" \n".into()), Err(DefinitionError::Description { .. })));
    }

    #[test]
    fn errors_name_tool_and_field() {
        let parameters = json!({"type": "object", "properties": {"x": {"type": ["boolean", "integer"]}}});
        let error = ToolDefinition::new("t", "Does it.", parameters).unwrap_err().to_string();
        assert!(error.contains("`t`") && error.contains("`x`"), "{error}");
    }

    #[test]
    fn the_strict_entry_says_so() {
        let tool = |parameters: Value| ToolDefinition::new("t", "Does it.", parameters).unwrap();
        let named = tool(json!({"type": "object", "properties": {"x": {"type": "integer"}}}));
        let entry = r#"{"type":"function","function":{"name":"t","description":"Does it.","parameters":{"type":"object","properties":{"x":{"type":["integer","null"]}},"required":["x"],"additionalProperties":false},"strict":true}}"#;
        assert_eq!(named.strict().get(), entry);
        assert!(std::ptr::eq(named.strict(), named.clone().strict()));
        let entry = r#"{"type":"function","function":{"name":"t","description":"Does it.","parameters":{"type":"object","properties":{"x":{"type":["integer","null"]}}}}}"#;
        assert_eq!(named.allow_null().get(), entry);
        assert!(std::ptr::eq(named.allow_null(), named.clone().allow_null()));
        let any = tool(json!({"type": "object", "properties": {"x": true}}));
        assert_eq!(any.strict().get(), any.raw().get());
    }
}
