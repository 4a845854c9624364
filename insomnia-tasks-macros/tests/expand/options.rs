/// For readers.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "search-files", description = "Search all files.")]
struct Search {
    text: String,
}
