use serde_json::{Map, Value};

use super::null::allow_null;

/// Levels of objects and lists that strict mode takes.
const MAX_LEVELS: usize = 10;
/// Values that all enums may have together.
const MAX_ENUM_VALUES: usize = 1000;
/// An enum of more values than this may have at most [`MAX_ENUM_CHARACTERS`] in them.
const LARGE_ENUM: usize = 250;
const MAX_ENUM_CHARACTERS: usize = 15_000;
/// Characters that all names of fields and all values of enums may have together.
const MAX_CHARACTERS: usize = 120_000;

/// Renders a plain schema for strict mode: no further fields, every field required, and `null` allowed where one was optional.
/// Limits of a string's length, which strict mode does not take, are told in words.
///
/// None where strict mode cannot say it: a value of any type, an object with free keys, more than 10 levels, or more and
/// longer values of enums than it takes.
pub(crate) fn strict(plain: &Value) -> Option<Value> {
    let mut schema = allow_null(plain);
    let mut used = Used::default();
    used.close(&mut schema, 0)?;
    (used.enum_values <= MAX_ENUM_VALUES && used.characters <= MAX_CHARACTERS).then_some(schema)
}

/// What is counted of a schema.
#[derive(Default)]
struct Used {
    enum_values: usize,
    characters: usize,
}

impl Used {
    fn close(&mut self, node: &mut Value, level: usize) -> Option<()> {
        let map = node.as_object_mut()?;
        if level > MAX_LEVELS || !map.contains_key("type") {
            return None;
        }
        tell_length(map);
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            let characters: usize = values.iter().filter_map(Value::as_str).map(|value| value.chars().count()).sum();
            if values.len() > LARGE_ENUM && characters > MAX_ENUM_CHARACTERS {
                return None;
            }
            self.enum_values += values.len();
            self.characters += characters;
        }
        if let Some(items) = map.get_mut("items") {
            self.close(items, level + 1)?;
        }
        if map.contains_key("properties") { self.close_object(map, level) } else { Some(()) }
    }

    fn close_object(&mut self, map: &mut Map<String, Value>, level: usize) -> Option<()> {
        if map.contains_key("additionalProperties") {
            return None;
        }
        let properties = map.get_mut("properties")?.as_object_mut()?;
        for (name, field) in properties.iter_mut() {
            self.characters += name.chars().count();
            self.close(field, level + 1)?;
        }
        let all: Value = properties.keys().cloned().collect();
        map.insert("required".to_owned(), all);
        map.insert("additionalProperties".to_owned(), false.into());
        Some(())
    }
}

/// Moves the limits of a string's length into its description.
fn tell_length(map: &mut Map<String, Value>) {
    let mut taken = |key: &str| map.shift_remove(key).and_then(|limit| limit.as_u64());
    let told = match (taken("minLength"), taken("maxLength")) {
        (Some(1), Some(1)) => "1 character.".to_owned(),
        (Some(min), Some(max)) => format!("{min} to {max} characters."),
        (None, Some(max)) => format!("At most {max} characters."),
        (Some(min), None) if min > 0 => format!("At least {min} characters."),
        _ => return,
    };
    let own = map.get("description").and_then(Value::as_str).map(|own| format!("{own}\n")).unwrap_or_default();
    map.insert("description".to_owned(), format!("{own}{told}").into());
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
            "b": {"type": "string", "description": "At least 1 characters."},
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
        let long = |count: usize| {
            let values: Vec<_> = (0..count).map(|value| format!("{value:0100}")).collect();
            json!({"type": "object", "properties": {"x": {"type": "string", "enum": values}}, "required": ["x"]})
        };
        assert!(strict(&long(LARGE_ENUM)).is_some());
        assert_eq!(strict(&long(LARGE_ENUM + 1)), None);
        assert!(strict(&one_of(MAX_ENUM_VALUES)).is_some());
        assert_eq!(strict(&one_of(MAX_ENUM_VALUES + 1)), None);
    }
}
