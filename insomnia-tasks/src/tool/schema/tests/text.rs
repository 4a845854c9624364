//! Schemas that no derive made.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SchemaError, plain};

#[test]
fn hand_written_schemas() {
    let schema = |node: Value| plain(&json!({"type": "object", "properties": {"x": node}, "required": ["x", "gone"]}));
    let field = |node: Value| schema(node).unwrap()["properties"]["x"].clone();
    assert_eq!(
        field(json!({"type": ["string", "null"], "enum": ["a", null]})),
        json!({"type": "string", "enum": ["a"]})
    );
    assert_eq!(field(json!({"const": "a"})), json!({"type": "string", "enum": ["a"]}));
    assert_eq!(field(json!({"enum": [1, 2]})), json!({"type": "integer", "description": "One of 1, 2."}));
    assert_eq!(field(json!({"allOf": [{"type": "string"}]})), json!({"type": "string"}));
    assert_eq!(field(json!({"type": "integer", "exclusiveMinimum": 0})), json!({"type": "integer", "minimum": 1}));
    assert_eq!(
        field(json!({"type": "string", "pattern": "^a", "default": "a", "format": "x", "title": "T"})),
        json!({"type": "string"})
    );
    assert_eq!(
        field(json!({"type": ["string", "null"], "format": "date", "description": "Since when."})),
        json!({"type": "string", "description": "Since when.\nA date, such as 2026-01-31."})
    );
    let decimal = json!({"type": ["string", "number"], "pattern": "^[0-9]+$"});
    assert_eq!(field(decimal), json!({"type": "string", "description": "Matches `^[0-9]+$`."}));
    assert_eq!(field(json!({"type": ["array", "string"], "items": {"type": "integer"}})), json!({"type": "string"}));
    assert_eq!(field(json!({"type": ["integer", "number"], "minimum": 0})), json!({"type": "number", "minimum": 0}));
    assert_eq!(
        field(json!({"type": "integer", "not": {"const": 0}})),
        json!({"type": "integer", "description": "Not 0."})
    );
    // Some servers refuse a required field that is not declared.
    assert_eq!(schema(json!({"type": "string"})).unwrap()["required"], json!(["x"]));
    for wrong in [json!({"type": "text"}), json!({"$ref": "#/$defs/None"}), json!(3), json!({"enum": []})] {
        assert!(matches!(schema(wrong), Err(SchemaError::Invalid { .. })));
    }
    assert!(matches!(schema(json!(false)), Err(SchemaError::NoValue { .. })));
    for several in
        [json!({"enum": ["a", 1]}), json!({"type": ["boolean", "integer"]}), json!({"type": ["object", "array"]})]
    {
        assert!(matches!(schema(several), Err(SchemaError::Union { .. })));
    }
}

#[test]
fn references_are_followed_and_bounded() {
    let schema = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a%20b~1c", "description": "Own."}},
        "$defs": {"a b/c": {"type": "string", "description": "Other."}},
    });
    assert_eq!(plain(&schema).unwrap()["properties"]["x"], json!({"type": "string", "description": "Own."}));

    // Each level doubles what the one below holds.
    let mut defs = json!({"d0": {"type": "string"}});
    for level in 1..40 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        defs[format!("d{level}")] = json!({"type": "object", "properties": {"a": below, "b": below}});
    }
    let bomb = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d39"}}, "$defs": defs});
    assert!(matches!(plain(&bomb), Err(SchemaError::TooLarge { .. })));
}

#[test]
fn names_that_servers_refuse_are_refused() {
    let named = |name: &str| {
        plain(&json!({"type": "object", "properties": {"list": {"type": "array", "items":
        {"type": "object", "properties": {name: {"type": "string"}}}}}}))
    };
    for taken in ["a", "A-b_9.c", "_", "9", &"x".repeat(64)] {
        assert!(named(taken).is_ok(), "{taken}");
    }
    for refused in ["", "a b", "größe", "$top", &"x".repeat(65)] {
        let error = named(refused).unwrap_err();
        assert_eq!(error, SchemaError::FieldName { place: "`list[]`".to_owned(), name: refused.to_owned() });
    }
}

#[test]
fn long_descriptions_are_cut() {
    let schema = json!({"type": "object", "description": "ä".repeat(1024), "properties": {"x": {"description": "ä".repeat(1025)}}});
    let rendered = plain(&schema).unwrap();
    assert_eq!(rendered["description"], "ä".repeat(1024));
    assert_eq!(rendered["properties"]["x"]["description"], format!("{}…", "ä".repeat(1023)));
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255})),
        Just(json!({"type": "number", "title": "N"})),
        Just(json!({"type": "boolean", "default": false})),
        ".{0,12}".prop_map(|text| json!({"type": "string", "description": text})),
        prop::collection::vec("[a-c]{1,2}", 1..4).prop_map(|values| json!({"type": "string", "enum": values})),
        Just(json!({"oneOf": [{"const": "a", "description": "A"}, {"type": "string", "enum": ["b"]}]})),
        Just(json!({"$ref": "#"})),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            inner.clone().prop_map(|some| json!({"anyOf": [some, {"type": "null"}]})),
            prop::collection::vec(("[a-z]{1,3}", inner, any::<bool>()), 0..4).prop_map(|fields| {
                let required: Vec<_> = fields.iter().filter(|field| field.2).map(|field| field.0.clone()).collect();
                let properties: serde_json::Map<_, _> = fields.into_iter().map(|field| (field.0, field.1)).collect();
                json!({"type": "object", "properties": properties, "required": required})
            }),
        ]
    })
}

/// Every node has one type, or none and a description; no word of the raw form is left.
fn assert_plain(node: &Value) {
    let map = node.as_object().unwrap();
    match map.get("type") {
        Some(Value::String(_)) => {}
        other => assert!(other.is_none() && map.contains_key("description"), "{node}"),
    }
    for key in ["$schema", "$ref", "$defs", "title", "format", "default", "oneOf", "anyOf", "allOf", "const"] {
        assert!(!map.contains_key(key), "{key} in {node}");
    }
    assert_eq!(map.get("type") == Some(&json!("object")), map.contains_key("properties"), "{node}");
    let fields = map.get("properties").and_then(Value::as_object).into_iter().flat_map(|fields| fields.values());
    fields.chain(map.get("items")).chain(map.get("additionalProperties")).for_each(assert_plain);
}

proptest! {
    #[test]
    fn rendering_is_plain_and_idempotent(schema in schemas()) {
        if let Ok(rendered) = plain(&schema) {
            assert_plain(&rendered);
            prop_assert_eq!(plain(&rendered).unwrap().to_string(), rendered.to_string());
        }
    }
}
