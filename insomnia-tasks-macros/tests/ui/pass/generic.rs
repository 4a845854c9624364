//! A generic tool has one definition for each of its types, rendered once.
#![deny(warnings)]

use insomnia_tasks::Tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Find it.
#[derive(Deserialize, JsonSchema, Tool)]
struct Find<T, const N: usize>
where
    T: Default,
{
    what: T,
    #[serde(default)]
    places: [u8; 2],
}

fn main() {
    let (text, number) = (Find::<String, 1>::definition(), Find::<i64, 1>::definition());
    assert!(text.parameters().get().contains(r#""what":{"type":"string"}"#));
    assert!(number.parameters().get().contains(r#""what":{"type":"integer"}"#));
    assert!(std::ptr::eq(text.raw(), Find::<String, 1>::definition().raw()));
    let found = Find::<i64, 2>::parse(r#"{"what": "3"}"#).unwrap();
    assert_eq!((found.what, found.places), (3, [0, 0]));
}
