/// Read it:
#[doc = include_str!("read.md")]
#[derive(Deserialize, JsonSchema, Tool)]
struct Read {}

#[derive(Deserialize, JsonSchema, Tool)]
#[tool(description = FIND)]
struct Find;
