use insomnia_tasks::{IntoToolOutput, Run, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Workspace;

/// List a folder below the current one: kind, size in bytes and name of each entry.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
pub struct ListFiles {
    /// Path of the folder; the current one if absent
    path: Option<String>,
}

impl Run<Workspace> for ListFiles {
    async fn run(self, workspace: &Workspace) -> Result<impl IntoToolOutput, ToolError> {
        Ok(workspace.list_files(self.path.as_deref()).await?)
    }
}

/// Read a text file below the current folder, at most 200 lines at a time.
#[derive(Debug, Deserialize, JsonSchema, Tool)]
pub struct ReadFile {
    /// Path of the file
    path: String,
    /// First line to read, from 1
    first_line: Option<u32>,
}

impl Run<Workspace> for ReadFile {
    async fn run(self, workspace: &Workspace) -> Result<impl IntoToolOutput, ToolError> {
        Ok(workspace.read_file(&self.path, self.first_line).await?)
    }
}
