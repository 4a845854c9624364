use serde_json::{Map, Value};

/// What a schema may hold that every server takes.
const KEYWORDS: [&str; 13] = [
    "type",
    "description",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// Checks that a tool's parameters are in the subset of JSON Schema that every server takes. With `null`, an optional field
/// may be null too.
///
/// # Errors
/// Says what is not in the subset, and where.
pub(crate) fn check(schema: &Value, null: bool) -> Result<(), String> {
    if schema.get("type") != Some(&Value::from("object")) {
        return Err("the root is no object".to_owned());
    }
    node(schema, false, null, "")
}

fn node(node: &Value, nullable: bool, null: bool, place: &str) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{place}: {what} in {node}"));
    let Some(map) = node.as_object() else { return fail("no object") };
    if let Some(key) = map.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        return fail(&format!("`{key}`"));
    }
    match map.get("description").map(|text| text.as_str().map(|text| text.chars().count())) {
        None | Some(Some(1..=1024)) => {}
        Some(_) => return fail("a description out of bounds"),
    }
    let kind = match map.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) if nullable => match kinds.as_slice() {
            [Value::String(kind), Value::String(null)] if null == "null" => Some(kind.as_str()),
            _ => return fail("several types"),
        },
        // any value: only with a description
        None if map.len() == 1 && map.contains_key("description") => None,
        _ => return fail("not one type"),
    };
    if let Some(values) = map.get("enum") {
        let mut values = values.as_array().cloned().unwrap_or_default();
        values.retain(|value| !(nullable && value.is_null()));
        if kind != Some("string") || values.is_empty() || !values.iter().all(Value::is_string) {
            return fail("an enum of other than strings");
        }
    }
    match kind {
        Some("object") => object(map, null, place),
        Some("array") => match map.get("items") {
            Some(items) => self::node(items, false, null, &format!("{place}[]")),
            None => fail("no `items`"),
        },
        Some("string" | "integer" | "number" | "boolean") | None => Ok(()),
        Some(_) => fail("an unknown type"),
    }
}

fn object(map: &Map<String, Value>, null: bool, place: &str) -> Result<(), String> {
    let Some(properties) = map.get("properties").and_then(Value::as_object) else {
        return Err(format!("{place}: no `properties`"));
    };
    let required: Vec<_> = match map.get("required").map(Value::as_array) {
        None => Vec::new(),
        Some(Some(names)) if !names.is_empty() => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(format!("{place}: an empty `required`")),
    };
    if let Some(name) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(format!("{place}: required and not declared: {name}"));
    }
    for (name, field) in properties {
        let nullable = null && !required.contains(&name.as_str());
        node(field, nullable, null, &format!("{place}.{name}"))?;
    }
    map.get("additionalProperties").map_or(Ok(()), |others| node(others, false, null, &format!("{place}.*")))
}
