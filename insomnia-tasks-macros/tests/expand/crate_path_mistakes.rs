#[derive(Deserialize, JsonSchema, Tool)]
#[tool(crate = "tasks")]
struct Read {
    path: String,
}

#[derive(Toolbox)]
#[tool(crate = "tasks")]
enum Tools {
    Read,
}
