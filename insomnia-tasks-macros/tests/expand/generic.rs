/// Find it.
#[derive(Deserialize, JsonSchema, Tool)]
struct Find<T, const N: usize>
where
    T: Default,
{
    what: T,
    places: [u8; N],
}
