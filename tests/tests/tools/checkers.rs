//! The checkers themselves: what each of them refuses.

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{common_subset, strict_rules};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by the derives only")]
struct Raw {
    size: Option<u32>,
}

fn with(field: Value) -> Value {
    json!({"type": "object", "properties": {"x": field}, "required": ["x"]})
}

#[test]
fn the_common_subset_is_no_more_than_that() {
    assert_eq!(common_subset::check(&with(json!({"type": "string"})), false), Ok(()));
    let nullable = json!({"type": "object", "properties": {"x": {"type": ["string", "null"]}}});
    assert_eq!(common_subset::check(&nullable, true), Ok(()));
    assert!(common_subset::check(&nullable, false).is_err());
    for wrong in [
        schema_for!(Raw).to_value(),
        json!({"type": "object"}),
        json!({"oneOf": [{"type": "object", "properties": {}}]}),
        json!({"type": "object", "properties": {}, "required": []}),
        json!({"type": "object", "properties": {}, "required": ["gone"]}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        with(json!(true)),
        with(json!({})),
        with(json!({"type": ["string", "null"]})),
        with(json!({"type": ["string", "integer"]})),
        with(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        with(json!({"$ref": "#/$defs/X"})),
        with(json!({"type": "string", "const": "a"})),
        with(json!({"type": "integer", "format": "uint64"})),
        with(json!({"type": "integer", "enum": [1, 2]})),
        with(json!({"type": "string", "title": "X"})),
        with(json!({"type": "string", "default": ""})),
        with(json!({"type": "string", "description": "x".repeat(1025)})),
        with(json!({"type": "array"})),
        with(json!({"type": "array", "items": {"type": "object"}})),
    ] {
        assert!(common_subset::check(&wrong, true).is_err(), "{wrong}");
    }
}

#[test]
fn strict_rules_are_openais() {
    let closed = |field: Value| json!({"type": "object", "properties": {"x": field}, "required": ["x"], "additionalProperties": false});
    let values = |count: usize, length: usize| {
        let values: Vec<_> = (0..count).map(|value| format!("{value:0length$}")).collect();
        closed(json!({"type": "string", "enum": values}))
    };
    let levels = |count: usize| (0..count).fold(json!({"type": "integer"}), |inner, _| closed(inner));
    for right in [closed(json!({"type": ["string", "null"]})), values(1_000, 4), values(250, 100), levels(10)] {
        assert_eq!(strict_rules::check(&right), Ok(()));
    }
    let open = json!({"type": "object", "properties": {}, "required": []});
    for wrong in [
        with(json!({"type": "string"})),
        json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": [], "additionalProperties": false}),
        closed(json!({"description": "Any JSON value."})),
        closed(json!({"type": "string", "minLength": 1})),
        closed(json!({"type": "string", "default": ""})),
        closed(open.clone()),
        closed(json!({"type": "array", "items": open})),
        closed(json!({"type": "array"})),
        values(1_001, 4),
        values(251, 100),
        values(250, 1_000),
        levels(11),
    ] {
        assert!(strict_rules::check(&wrong).is_err(), "{}", wrong.to_string().chars().take(300).collect::<String>());
    }
}
