use serde_json::Number;

/// What a schema says, freed of the many ways in which JSON Schema can say it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) description: Option<String>,
    /// What the description must also tell because the plain form has no keyword for it.
    pub(crate) notes: Vec<String>,
    pub(crate) nullable: bool,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Any,
    Null,
    Boolean,
    Integer(Bounds<Number>),
    Number(Bounds<Number>),
    String { values: Option<Vec<String>>, length: Bounds<u64> },
    Array { items: Box<Shape>, length: Bounds<u64> },
    Object { properties: Vec<Property>, others: Option<Box<Shape>> },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds<T> {
    pub(crate) min: Option<T>,
    pub(crate) max: Option<T>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
}

impl Shape {
    pub(crate) fn of(kind: Kind) -> Self {
        Self { description: None, notes: Vec::new(), nullable: false, kind }
    }

    /// Whether this is an object that has no fields.
    pub(crate) fn is_empty_object(&self) -> bool {
        matches!(&self.kind, Kind::Object { properties, others: None } if properties.is_empty())
    }
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Any => "any value",
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Integer(_) => "an integer",
            Kind::Number(_) => "a number",
            Kind::String { .. } => "a string",
            Kind::Array { .. } => "an array",
            Kind::Object { .. } => "an object",
        }
    }
}
