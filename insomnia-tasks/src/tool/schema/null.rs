use serde_json::{Map, Value, json};

/// A plain schema in which `null` is allowed wherever a field is optional.
pub(crate) fn allow_null(plain: &Value) -> Value {
    let mut schema = plain.clone();
    visit(&mut schema);
    schema
}

fn visit(node: &mut Value) {
    let Some(map) = node.as_object_mut() else { return };
    let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, field) in map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        visit(field);
        if let Some(field) = field.as_object_mut()
            && !required.iter().any(|required| required == name)
        {
            or_null(field);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = map.get_mut(key) {
            visit(below);
        }
    }
}

/// A node without `type` takes null as it is.
fn or_null(field: &mut Map<String, Value>) {
    if let Some(kind) = field.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    if let Some(values) = field.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_optional_may_be_null() {
        let inner = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let plain = json!({"type": "object", "properties": {
            "b": {"type": "string", "minLength": 1},
            "a": {"type": "string", "enum": ["p"]},
            "any": {"description": "Any JSON value."},
            "list": {"type": "array", "items": inner},
            "map": {"type": "object", "properties": {}, "additionalProperties": inner}
        }, "required": ["b", "list", "map"]});
        let inner = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}});
        let want = json!({"type": "object", "properties": {
            "b": {"type": "string", "minLength": 1},
            "a": {"type": ["string", "null"], "enum": ["p", null]},
            "any": {"description": "Any JSON value."},
            "list": {"type": "array", "items": inner},
            "map": {"type": "object", "properties": {}, "additionalProperties": inner}
        }, "required": ["b", "list", "map"]});
        // As text: the order of the keys counts.
        assert_eq!(allow_null(&plain).to_string(), want.to_string());
    }
}
