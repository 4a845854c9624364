use insomnia_tasks::{Tool, ToolDefinition, Toolbox, task::tools::TaskToolbox, tool::DefinitionError};
use proptest::test_runner::{Config, TestRunner};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{common_subset, generate, shapes, strict_rules};

/// The entry of a request's `tools`, its parameters, and whether it says to be strict.
fn read(entry: &RawValue) -> (Value, bool) {
    let entry: Value = serde_json::from_str(entry.get()).unwrap();
    let function = &entry["function"];
    (function["parameters"].clone(), function.get("strict") == Some(&json!(true)))
}

/// Every definition that is sent: all shapes, and the task tools.
fn definitions() -> Vec<(ToolDefinition, bool)> {
    let shapes = shapes::all().into_iter().map(|shape| (shape.definition, shape.strict));
    shapes.chain(TaskToolbox::definitions().into_iter().map(|definition| (definition, true))).collect()
}

#[test]
fn portable_schemas_are_in_the_common_subset() {
    for (definition, _) in definitions() {
        for (entry, null) in [(definition.raw(), false), (definition.allow_null(), true)] {
            let (parameters, strict) = read(entry);
            assert!(!strict);
            assert_eq!(common_subset::check(&parameters, null), Ok(()), "{}", definition.name());
        }
    }
}

#[test]
fn strict_schemas_obey_openais_rules() {
    for (definition, sayable) in definitions() {
        let (parameters, strict) = read(definition.strict());
        assert_eq!(strict, sayable, "{}", definition.name());
        if strict {
            assert_eq!(strict_rules::check(&parameters), Ok(()), "{}", definition.name());
        } else {
            assert_eq!(definition.strict().get(), definition.raw().get());
        }
    }
}

/// The value as strict mode has it: nothing but the declared fields, and null where an optional one was left out.
fn filled(value: &Value, schema: &Value) -> Value {
    match (value, &schema["properties"], schema.get("items")) {
        (Value::Object(fields), Value::Object(properties), _) => {
            let field = |(name, schema): (&String, &Value)| match fields.get(name) {
                Some(value) => Some((name.clone(), filled(value, schema))),
                None => schema["type"].is_array().then(|| (name.clone(), Value::Null)),
            };
            Value::Object(properties.iter().filter_map(field).collect())
        }
        (Value::Array(values), _, Some(items)) => values.iter().map(|value| filled(value, items)).collect(),
        _ => value.clone(),
    }
}

#[test]
fn schemas_and_parsing_take_right_values_and_refuse_wrong_ones() {
    for shape in shapes::all() {
        let parses = |value: &Value| (shape.parse)(&value.to_string());
        let name = shape.definition.name();
        for entry in [shape.definition.raw(), shape.definition.allow_null(), shape.definition.strict()] {
            let (schema, strict) = read(entry);
            jsonschema::draft202012::meta::validate(&schema).unwrap();
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            let as_sent = |value: &Value| if strict { filled(value, &schema) } else { value.clone() };
            for value in shape.right.iter().map(as_sent) {
                assert!(validator.is_valid(&value), "{name}: {schema} refuses {value}");
                let read = parses(&value).unwrap_or_else(|error| panic!("{name}: {value}: {error}"));
                assert!(holds(&read, &value), "{name}: {read} was read from {value}");
            }
            for value in shape.wrong.iter().map(as_sent) {
                assert!(!validator.is_valid(&value), "{name}: {schema} takes {value}");
            }
        }
        for value in &shape.wrong {
            let told = parses(value).expect_err(name).to_string();
            assert!(told.contains("nothing was run"), "{name}: {told}");
        }
    }
}

/// Whether null may stand for an optional field, in each of the renderings.
#[test]
fn null_is_allowed_where_it_was_asked_for() {
    let null = json!({"level": "low", "when": "Now", "all": [], "worst": null, "maybe_when": null});
    let shape = shapes::all().into_iter().find(|shape| shape.definition.name() == "Choices").unwrap();
    let takes = |entry| jsonschema::draft202012::new(&read(entry).0).unwrap().is_valid(&null);
    let definition = &shape.definition;
    assert!(!takes(definition.raw()) && takes(definition.allow_null()) && takes(definition.strict()));
    assert!((shape.parse)(&null.to_string()).is_ok(), "it is understood in any case");
}

#[test]
fn arguments_made_from_a_schema_are_read() {
    for shape in shapes::all() {
        for entry in [shape.definition.raw(), shape.definition.allow_null(), shape.definition.strict()] {
            let (schema, _) = read(entry);
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            let read = |arguments: Value| {
                proptest::prop_assert!(validator.is_valid(&arguments), "{schema} refuses {arguments}");
                match (shape.parse)(&arguments.to_string()) {
                    Ok(read) => proptest::prop_assert!(holds(&read, &arguments), "{read} was read from {arguments}"),
                    Err(error) => proptest::prop_assert!(false, "{arguments}: {error}"),
                }
                Ok(())
            };
            let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
            TestRunner::new(config).run(&generate::arguments(&schema), read).unwrap();
        }
    }
}

/// Whether all that was written is in what was read. A null may have become absence; sets have an order of their own.
fn holds(read: &Value, written: &Value) -> bool {
    match (read, written) {
        (_, Value::Null) => true,
        // a unit struct
        (Value::Null, Value::Object(fields)) => fields.is_empty(),
        (Value::Object(read), Value::Object(written)) => {
            written.iter().all(|(name, value)| value.is_null() || read.get(name).is_some_and(|read| holds(read, value)))
        }
        (Value::Array(read), Value::Array(written)) => {
            written.iter().all(|value| read.iter().any(|read| holds(read, value)))
                && read.iter().all(|value| written.iter().any(|written| holds(value, written)))
        }
        (Value::Number(read), Value::Number(written)) => match (read.as_f64(), written.as_f64()) {
            (Some(read), Some(written)) => (read - written).abs() <= 1e-9 * written.abs(),
            _ => false,
        },
        _ => read == written,
    }
}

/// Grow.
#[derive(Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Grow {
    root: Tree,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by the derives only")]
struct Tree {
    children: Vec<Tree>,
}

/// Draw.
#[derive(Deserialize, JsonSchema, Tool)]
#[expect(dead_code, reason = "read by the derives only")]
struct Draw {
    what: Figure,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read by the derives only")]
enum Figure {
    Circle { radius: f64 },
    Nothing,
}

#[test]
fn what_no_common_schema_says_is_an_error_that_names_the_field_and_the_way_out() {
    for (definition, says) in [
        (Grow::try_definition(), "`root.children[]` is of a type that contains itself: use a flat list"),
        (Draw::try_definition(), "`what` may be one of several types: use a struct that has a string enum"),
    ] {
        let error = definition.unwrap_err();
        assert!(matches!(error, DefinitionError::Schema { .. }) && error.to_string().contains(says), "{error}");
    }
}
