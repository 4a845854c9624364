use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use super::{coerce::stands_for_nothing, parse::Problem};
use crate::tool::schema::{Kind, Property, Shape};

/// Repairs what only a failed reading shows, since the schema does not tell it, and says whether there was anything:
///
/// - A field that may be left out by the schema and must be there by serde becomes null: an `Option` that has
///   `deserialize_with` and no default.
/// - An optional field whose type refuses `""` or `"null"`, such as a date, becomes absent.
pub(super) fn mend(value: &mut Value, shape: &Shape, problem: &Problem) -> bool {
    let path: Vec<_> = problem.path().iter().cloned().collect();
    let missing = missing_field(&problem.inner().to_string());
    let (holder, field) = match (&missing, path.split_last()) {
        (Some(name), _) => (path.as_slice(), name.as_str()),
        (None, Some((Segment::Map { key }, holder))) => (holder, key.as_str()),
        _ => return false,
    };
    let mut mended = false;
    each_holder(value, shape, holder, &mut |object, properties| {
        if !properties.iter().any(|property| property.name == field && !property.required) {
            return;
        }
        match object.get(field) {
            None if missing.is_some() => {
                object.insert(field.to_owned(), Value::Null);
                mended = true;
            }
            Some(value) if missing.is_none() && stands_for_nothing(value) => {
                object.shift_remove(field);
                mended = true;
            }
            _ => {}
        }
    });
    mended
}

/// The name in serde's words for a field that is not there.
pub(super) fn missing_field(reason: &str) -> Option<String> {
    reason.strip_prefix("missing field `")?.strip_suffix('`').map(str::to_owned)
}

/// Visits the object at the end of the path, in all entries of the lists and maps on the way.
fn each_holder(
    value: &mut Value,
    shape: &Shape,
    path: &[Segment],
    visit: &mut impl FnMut(&mut Map<String, Value>, &[Property]),
) {
    match (path.split_first(), value, &shape.kind) {
        (None, Value::Object(object), Kind::Object { properties, .. }) => visit(object, properties),
        (Some((Segment::Seq { .. }, rest)), Value::Array(values), Kind::Array { items, .. }) => {
            values.iter_mut().for_each(|value| each_holder(value, items, rest, visit));
        }
        (Some((Segment::Map { key }, rest)), Value::Object(object), Kind::Object { properties, others }) => {
            let declared = |name: &str| properties.iter().find(|property| property.name == name);
            match (declared(key), others) {
                (Some(property), _) => {
                    if let Some(value) = object.get_mut(key) {
                        each_holder(value, &property.shape, rest, visit);
                    }
                }
                (None, Some(others)) => {
                    let free = object.iter_mut().filter(|(name, _)| declared(name).is_none());
                    free.for_each(|(_, value)| each_holder(value, others, rest, visit));
                }
                (None, None) => {}
            }
        }
        _ => {}
    }
}
