mod text;
mod types;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::Value;

use super::{SchemaError, plain};

fn rendered<T: JsonSchema>() -> Value {
    plain(schema_for!(T).as_value()).unwrap()
}

fn refused<T: JsonSchema>() -> String {
    plain(schema_for!(T).as_value()).unwrap_err().to_string()
}

/// Whether the schema takes the value, after a check of the schema itself against the draft's own.
fn takes(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::meta::validate(schema).unwrap();
    jsonschema::draft202012::new(schema).unwrap().is_valid(value)
}

/// The type's schema, when it takes exactly the values that the type takes.
fn agrees<T: JsonSchema + for<'de> Deserialize<'de>>(right: &[Value], wrong: &[Value]) -> Value {
    let schema = rendered::<T>();
    for value in right {
        assert!(takes(&schema, value), "schema refuses {value}");
        assert!(T::deserialize(value).is_ok(), "type refuses {value}");
    }
    for value in wrong {
        assert!(!takes(&schema, value), "schema takes {value}");
        assert!(T::deserialize(value).is_err(), "type takes {value}");
    }
    schema
}
