#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "read file", title = "Read")]
struct ReadFile<'a> {
    path: &'a str,
}
