/// Read a text file
/// of the workspace.
///
/// Not for folders.
#[derive(Deserialize, JsonSchema, Tool)]
pub struct ReadFile {
    /// Path below the workspace root.
    path: PathBuf,
    line: Option<u32>,
}
