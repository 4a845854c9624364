use serde_json::{Map, Number, Value};

use crate::tool::schema::{Kind, Shape};

/// Brings a value closer to what the schema asks for, where there is only one way to read it. The rest stays as it is, for
/// the deserializer to judge.
pub(super) fn coerce(value: &mut Value, shape: &Shape) {
    if let Some(better) = converted(value, &shape.kind) {
        *value = better;
    }
    drop_fields(value, shape, is_absence);
    each_below(value, shape, coerce);
}

/// Takes out every null that stands for an optional field which was left out.
pub(super) fn drop_nulls(value: &mut Value, shape: &Shape) {
    drop_fields(value, shape, is_null);
    each_below(value, shape, drop_nulls);
}

fn drop_fields(value: &mut Value, shape: &Shape, are_absent: fn(&Value, &Shape) -> bool) {
    if let (Value::Object(object), Kind::Object { properties, .. }) = (value, &shape.kind) {
        for field in properties.iter().filter(|field| !field.required) {
            if object.get(&field.name).is_some_and(|value| are_absent(value, &field.shape)) {
                object.shift_remove(&field.name);
            }
        }
    }
}

fn each_below(value: &mut Value, shape: &Shape, apply: fn(&mut Value, &Shape)) {
    match (value, &shape.kind) {
        (Value::Object(object), Kind::Object { properties, others }) => {
            for (name, value) in object {
                let field = properties.iter().find(|field| field.name == *name);
                if let Some(shape) = field.map(|field| &field.shape).or(others.as_deref()) {
                    apply(value, shape);
                }
            }
        }
        (Value::Array(values), Kind::Array { items, .. }) => values.iter_mut().for_each(|value| apply(value, items)),
        _ => {}
    }
}

/// Where any value is taken, null is one.
fn is_null(value: &Value, optional: &Shape) -> bool {
    value.is_null() && optional.kind != Kind::Any
}

fn is_absence(value: &Value, optional: &Shape) -> bool {
    is_null(value, optional)
        || match (value, &optional.kind) {
            (_, Kind::Any | Kind::String { values: None, .. }) => false,
            (Value::String(text), Kind::String { values: Some(values), .. }) if values.contains(text) => false,
            _ => stands_for_nothing(value),
        }
}

/// Whether it is a text that models write for "nothing", as in the arguments as a whole.
pub(super) fn stands_for_nothing(value: &Value) -> bool {
    value.as_str().is_some_and(|text| matches!(text.trim(), "" | "null"))
}

fn converted(value: &Value, kind: &Kind) -> Option<Value> {
    match (value, kind) {
        (Value::String(text), Kind::Integer(_)) => integer(&serde_json::from_str(text.trim()).ok()?).map(Value::Number),
        (Value::Number(number), Kind::Integer(_)) => integer(number).map(Value::Number),
        (Value::String(text), Kind::Number(_)) => serde_json::from_str(text.trim()).ok().map(Value::Number),
        (Value::String(text), Kind::Boolean) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Value::String(text), Kind::Object { .. }) => {
            serde_json::from_str::<Map<String, Value>>(text).ok().map(Value::Object)
        }
        (Value::String(text), Kind::Array { .. }) => serde_json::from_str(text).ok().map(Value::Array),
        _ => None,
    }
}

/// `3` and `3.0`, but not `3.5` nor what a float cannot hold exactly.
fn integer(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
    Some((float as i64).into())
}
