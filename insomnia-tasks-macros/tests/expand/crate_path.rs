/// Read.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(crate = "tasks")]
struct Read {
    path: String,
}

/// Find.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(crate = "crate::tasks")]
struct Find<T> {
    what: T,
}

#[derive(Toolbox)]
#[tool(crate = "tasks")]
enum Tools {
    Read(Read),
    Find(Find<u32>),
}
