use serde_json::{Map, Value};

use super::null::allow_null;

/// Levels of objects and lists that strict mode takes.
const MAX_LEVELS: usize = 10;
/// Values that all enums may have together.
const MAX_ENUM_VALUES: usize = 1000;

/// Renders a plain schema for strict mode: no further fields, every field required, and `null` allowed where one was optional.
///
/// None where strict mode cannot say it: a value of any type, an object with free keys, more than 10 levels, or more than
/// 1,000 enum values.
pub(crate) fn strict(plain: &Value) -> Option<Value> {
    let mut schema = allow_null(plain);
    let mut enum_values = 0;
    close(&mut schema, 0, &mut enum_values)?;
    (enum_values <= MAX_ENUM_VALUES).then_some(schema)
}

fn close(node: &mut Value, level: usize, enum_values: &mut usize) -> Option<()> {
    let map = node.as_object_mut()?;
    if level > MAX_LEVELS || !map.contains_key("type") {
        return None;
    }
    // the one pair of limits that strict mode does not take
    map.remove("minLength");
    map.remove("maxLength");
    *enum_values += map.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
    if let Some(items) = map.get_mut("items") {
        close(items, level + 1, enum_values)?;
    }
    if map.contains_key("properties") { close_object(map, level, enum_values) } else { Some(()) }
}

fn close_object(map: &mut Map<String, Value>, level: usize, enum_values: &mut usize) -> Option<()> {
    if map.contains_key("additionalProperties") {
        return None;
    }
    let properties = map.get_mut("properties")?.as_object_mut()?;
    for field in properties.values_mut() {
        close(field, level + 1, enum_values)?;
    }
    let all: Value = properties.keys().cloned().collect();
    map.insert("required".to_owned(), all);
    map.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    #[test]
    fn keeps_within_the_limits() {
        let nest = |levels: usize| {
            let leaf = json!({"type": "integer"});
            let list = (1..levels).fold(leaf, |items, _| json!({"type": "array", "items": items}));
            json!({"type": "object", "properties": {"x": list}})
        };
        assert!(strict(&nest(MAX_LEVELS)).is_some());
        assert_eq!(strict(&nest(MAX_LEVELS + 1)), None);
        let one_of = |count: usize| {
            let values: Vec<_> = (0..count).map(|value| value.to_string()).collect();
            let property = json!({"type": "string", "enum": values});
            json!({"type": "object", "properties": {"x": property}, "required": ["x"]})
        };
        assert!(strict(&one_of(MAX_ENUM_VALUES)).is_some());
        assert_eq!(strict(&one_of(MAX_ENUM_VALUES + 1)), None);
    }
}
