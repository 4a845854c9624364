/// Why a schema has no plain form. `place` is the path of the field, such as `filter.tags[]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The parameters as a whole are not an object.
    #[error("the parameters of a tool must be an object, not {found}: use a struct with named fields")]
    Root {
        /// What they are instead.
        found: &'static str,
    },
    /// A type contains itself, so that it cannot be written out in full.
    #[error("{place} is of a type that contains itself: use a flat list whose entries name their parent")]
    Recursive {
        /// Where the type is met again.
        place: String,
    },
    /// A value may be of several kinds, such as an enum whose variants carry data.
    #[error(
        "{place} may be one of several types: use a struct that has a string enum for the choice and optional fields \
         for the data, or, if the type is not yours, say as what a model writes it, such as with \
         `#[schemars(with = \"String\")]`"
    )]
    Union {
        /// The field.
        place: String,
    },
    /// A list whose entries are of different types.
    #[error(
        "{place} is a tuple of different types: use a struct with named fields, or, if the type is not yours, say as what a \
         model writes it, such as with `#[schemars(with = \"String\")]`, and read it with `#[serde(deserialize_with = \"...\")]`"
    )]
    Tuple {
        /// The field.
        place: String,
    },
    /// A name that servers refuse, of a field or of a key that a map may have.
    #[error(
        "{place} has a field named {name:?}, which servers refuse: use 1 to 64 letters, digits, `_`, `-` or `.`, such as with \
         `#[serde(rename = \"...\")]`"
    )]
    FieldName {
        /// Where the field stands.
        place: String,
        /// Its name.
        name: String,
    },
    /// A field that can hold nothing, or nothing but null.
    #[error("{place} can hold no value: remove the field")]
    NoValue {
        /// The field.
        place: String,
    },
    /// Something that is not a JSON schema.
    #[error("{place} is no JSON schema that can be read: {reason}")]
    Invalid {
        /// The field.
        place: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The schema, written out in full, is beyond what a server takes.
    #[error("the schema is too large when written out: more than {limit} nodes or nested too deeply at {place}")]
    TooLarge {
        /// Where the limit was reached.
        place: String,
        /// The number of nodes that is allowed.
        limit: usize,
    },
}
