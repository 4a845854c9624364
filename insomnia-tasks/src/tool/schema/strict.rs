use serde_json::{Map, Value, json};

/// Renders a plain schema for strict mode: no further fields, every field required, and `null` allowed where one was optional.
///
/// None where strict mode cannot say it: a value of any type, or an object with free keys.
pub(crate) fn strict(plain: &Value) -> Option<Value> {
    let mut node = plain.as_object()?.clone();
    // the one pair of limits that strict mode does not take
    node.remove("minLength");
    node.remove("maxLength");
    match node.get("type")?.as_str()? {
        "array" => {
            let items = strict(node.get("items")?)?;
            node.insert("items".to_owned(), items);
        }
        "object" => close(&mut node)?,
        _ => {}
    }
    Some(Value::Object(node))
}

fn close(node: &mut Map<String, Value>) -> Option<()> {
    if node.contains_key("additionalProperties") {
        return None;
    }
    let required = node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut fields = Map::new();
    for (name, field) in node.get("properties")?.as_object()? {
        let mut field = strict(field)?;
        if !required.iter().any(|required| required == name) {
            allow_null(&mut field);
        }
        fields.insert(name.clone(), field);
    }
    node.insert("required".to_owned(), fields.keys().cloned().collect());
    node.insert("properties".to_owned(), fields.into());
    node.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

fn allow_null(field: &mut Value) {
    field["type"] = json!([field["type"], "null"]);
    if let Some(values) = field.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requires_all_and_makes_the_optional_nullable() {
        let plain = json!({"type": "object", "description": "d", "properties": {
            "b": {"type": "string", "minLength": 1},
            "a": {"type": "string", "description": "x", "enum": ["p", "q"]},
            "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}}
        }, "required": ["b", "list"]});
        let inner = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"], "minimum": 0}},
            "required": ["n"], "additionalProperties": false});
        let want = json!({"type": "object", "description": "d", "properties": {
            "b": {"type": "string"},
            "a": {"type": ["string", "null"], "description": "x", "enum": ["p", "q", null]},
            "list": {"type": "array", "items": inner}
        }, "required": ["b", "a", "list"], "additionalProperties": false});
        let strict = strict(&plain).unwrap();
        assert_eq!(strict, want);
        let order: Vec<_> = strict["properties"].as_object().unwrap().keys().collect();
        assert_eq!(order, ["b", "a", "list"]);
    }

    #[test]
    fn no_fields_are_said_in_full() {
        let want = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        assert_eq!(strict(&json!({"type": "object", "properties": {}})), Some(want));
    }

    #[test]
    fn knows_what_it_cannot_say() {
        for field in [
            json!({"description": "Any JSON value."}),
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        ] {
            assert_eq!(strict(&json!({"type": "object", "properties": {"x": field}})), None);
        }
    }
}
