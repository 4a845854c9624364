//! The same four tools as in `four-tools`, told to the model by the types of async-openai.

use std::{collections::BTreeMap, path::PathBuf};

use async_openai::types::chat::{ChatCompletionTool, ChatCompletionTools, FunctionObject};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;

/// Read a text file of the workspace.
#[derive(Deserialize, JsonSchema)]
pub struct ReadFile {
    /// Path below the workspace root.
    pub path: PathBuf,
    /// First line to read, from 1.
    pub line: Option<u32>,
}

/// Write a text file of the workspace.
#[derive(Deserialize, JsonSchema)]
pub struct WriteFile {
    /// Path below the workspace root.
    pub path: PathBuf,
    /// Its new content.
    pub content: String,
    /// What to do with a file that is there.
    pub existing: Option<Existing>,
}

/// What to do with a file that is there.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Existing {
    /// Write over it.
    Replace,
    /// Write behind its end.
    Append,
    Keep,
}

/// Search the files of the workspace for a text.
#[derive(Deserialize, JsonSchema)]
pub struct Search {
    /// The text.
    pub text: String,
    /// Folders to search.
    #[serde(default)]
    pub within: Vec<PathBuf>,
    /// At most so many results.
    pub limit: Option<u8>,
    /// From 0 to 1, how much of the text must be met.
    pub likeness: Option<f64>,
}

/// Rename files of the workspace.
#[derive(Deserialize, JsonSchema)]
pub struct Rename {
    /// New names by old names.
    pub names: BTreeMap<String, String>,
}

fn tool<T: JsonSchema>(name: &str) -> ChatCompletionTools {
    let schema = schema_for!(T);
    let description = schema.get("description").and_then(|text| text.as_str()).map(str::to_owned);
    let function = FunctionObject { name: name.to_owned(), description, parameters: Some(schema.to_value()), strict: None };
    ChatCompletionTools::Function(ChatCompletionTool { function })
}

fn main() {
    let tools =
        [tool::<ReadFile>("ReadFile"), tool::<WriteFile>("WriteFile"), tool::<Search>("Search"), tool::<Rename>("Rename")];
    println!("{tools:?}");
}
