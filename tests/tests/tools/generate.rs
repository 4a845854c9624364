use proptest::{prelude::*, string::string_regex};
use serde_json::{Map, Value};

/// Arguments that a model could write which knows nothing but the schema: its keywords and its descriptions.
pub(crate) fn arguments(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return prop::sample::select(values.clone()).boxed();
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(kind) => kind.as_str().into_iter().collect(),
        None => Vec::new(),
    };
    let value = match kinds.first().copied() {
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => integer(schema),
        Some("number") => (-1e9..1e9).prop_map(Value::from).boxed(),
        Some("string") => string(schema),
        Some("array") => {
            let length = limit(schema, "minItems", 0)..=limit(schema, "maxItems", 4);
            prop::collection::vec(arguments(&schema["items"]), length).prop_map(Value::from).boxed()
        }
        Some("object") => object(schema),
        _ => prop_oneof![any::<bool>().prop_map(Value::from), ".{0,8}".prop_map(Value::from)].boxed(),
    };
    match kinds.contains(&"null") {
        true => prop_oneof![3 => value, 1 => Just(Value::Null)].boxed(),
        false => value,
    }
}

fn limit(schema: &Value, key: &str, otherwise: usize) -> usize {
    schema.get(key).and_then(Value::as_u64).map_or(otherwise, |limit| limit as usize)
}

/// A schema does not tell how wide an integer without limits is; all are wider than half of 32 bits.
fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let bound = |key, otherwise: i32| schema.get(key).and_then(Value::as_i64).unwrap_or(otherwise.into());
    let range = bound("minimum", i32::MIN)..=bound("maximum", i32::MAX);
    match last_line(schema) {
        "Not 0." => range.prop_filter("not 0", |number| *number != 0).prop_map(Value::from).boxed(),
        _ => range.prop_map(Value::from).boxed(),
    }
}

/// What the schema's keywords do not tell.
fn last_line(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).and_then(|text| text.lines().last()).unwrap_or_default()
}

fn string(schema: &Value) -> BoxedStrategy<Value> {
    let told = last_line(schema);
    if let Some(pattern) = told.strip_prefix("Matches `^").and_then(|rest| rest.strip_suffix("$`.")) {
        // the digits of all scripts otherwise
        let pattern = pattern.replace(r"\d+", "[0-9]{1,9}");
        return string_regex(&pattern).unwrap().prop_map(Value::from).boxed();
    }
    let examples: Vec<String> = match told {
        "A UUID." => vec!["01890a5d-ac96-774b-bcce-b302099a8057".into()],
        "An IP address." => vec!["127.0.0.1".into(), "::1".into()],
        "1 character." => vec!["a".into(), "ä".into()],
        _ => told
            .rsplit_once("such as ")
            .into_iter()
            .map(|(_, example)| example.trim_end_matches('.').to_owned())
            .collect(),
    };
    if !examples.is_empty() {
        return prop::sample::select(examples).prop_map(Value::from).boxed();
    }
    let (min, max) = (limit(schema, "minLength", 0), limit(schema, "maxLength", 12));
    string_regex(&format!(".{{{min},{max}}}")).unwrap().prop_map(Value::from).boxed()
}

/// All required fields, some of the others, and some with free keys where the schema allows them.
fn object(schema: &Value) -> BoxedStrategy<Value> {
    let required: Vec<_> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let fields: Vec<_> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, field)| {
            let value = arguments(field);
            let given = match required.iter().any(|required| required == name) {
                true => value.prop_map(Some).boxed(),
                false => prop::option::of(value).boxed(),
            };
            (Just(name.clone()), given)
        })
        .collect();
    let others = match schema.get("additionalProperties").filter(|others| others.is_object()) {
        Some(others) => prop::collection::vec((keys(schema), arguments(others).prop_map(Some)), 0..4).boxed(),
        None => Just(Vec::new()).boxed(),
    };
    let object = |(fields, others): (Vec<(String, Option<Value>)>, Vec<_>)| {
        let given = others.into_iter().chain(fields).filter_map(|(name, value)| Some((name, value?)));
        Value::Object(given.collect::<Map<_, _>>())
    };
    (fields, others).prop_map(object).boxed()
}

fn keys(schema: &Value) -> BoxedStrategy<String> {
    match schema.get("description").and_then(Value::as_str).and_then(|text| text.split_once("Keys match `^")) {
        // short enough for any number
        Some((_, pattern)) if pattern.starts_with("\\d+$") => "[1-9][0-9]{0,4}".boxed(),
        Some((_, pattern)) => string_regex(pattern.split("$`").next().unwrap()).unwrap().boxed(),
        None => "[a-z ]{0,8}".boxed(),
    }
}
