use serde_json::Value;

/// What OpenAI's strict mode knows in the schema of a function.
const KEYWORDS: [&str; 17] = [
    "type",
    "description",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_ENUM_VALUES: usize = 1_000;
const MAX_CHARACTERS: usize = 120_000;
/// An enum of more values than this has at most [`MAX_ENUM_CHARACTERS`] in them.
const LARGE_ENUM: usize = 250;
const MAX_ENUM_CHARACTERS: usize = 15_000;

/// Checks that a function's parameters obey the rules of OpenAI's strict mode.
///
/// # Errors
/// Says which rule is broken, and where.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    if schema.get("type") != Some(&Value::from("object")) {
        return Err("the root is no object".to_owned());
    }
    let mut seen = Seen::default();
    seen.node(schema, 0, "")?;
    for (what, count, limit) in [
        ("properties", seen.properties, MAX_PROPERTIES),
        ("enum values", seen.enum_values, MAX_ENUM_VALUES),
        ("characters of names and values", seen.characters, MAX_CHARACTERS),
    ] {
        if count > limit {
            return Err(format!("{count} {what}, and {limit} are taken"));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Seen {
    properties: usize,
    enum_values: usize,
    characters: usize,
}

impl Seen {
    fn node(&mut self, node: &Value, level: usize, place: &str) -> Result<(), String> {
        let fail = |what: &str| Err(format!("{place}: {what} in {node}"));
        let Some(map) = node.as_object() else { return fail("no object") };
        if let Some(key) = map.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
            return fail(&format!("`{key}`"));
        }
        if level > MAX_LEVELS {
            return fail("too many levels");
        }
        let kinds: Vec<_> = match map.get("type") {
            Some(Value::String(kind)) => vec![kind.as_str()],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return fail("no type"),
        };
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            let characters: usize = values.iter().filter_map(Value::as_str).map(|value| value.chars().count()).sum();
            if values.len() > LARGE_ENUM && characters > MAX_ENUM_CHARACTERS {
                return fail("too many characters in one enum");
            }
            self.enum_values += values.len();
            self.characters += characters;
        }
        if kinds.contains(&"array") {
            match map.get("items") {
                Some(items) => self.node(items, level + 1, &format!("{place}[]"))?,
                None => return fail("no `items`"),
            }
        }
        if !kinds.contains(&"object") {
            return Ok(());
        }
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            return fail("no `\"additionalProperties\": false`");
        }
        let Some(properties) = map.get("properties").and_then(Value::as_object) else { return fail("no `properties`") };
        let required = map.get("required").and_then(Value::as_array);
        if !required.is_some_and(|required| required.iter().eq(properties.keys())) {
            return fail("not all properties are required");
        }
        self.properties += properties.len();
        for (name, field) in properties {
            self.characters += name.chars().count();
            self.node(field, level + 1, &format!("{place}.{name}"))?;
        }
        Ok(())
    }
}
