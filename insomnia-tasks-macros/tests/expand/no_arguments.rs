/// Tell the time.
#[derive(Deserialize, JsonSchema, Tool)]
struct Now;

/// Wait.
#[derive(Deserialize, JsonSchema, Tool)]
struct Wait {}
