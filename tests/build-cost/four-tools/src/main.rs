//! Four tools and nothing else. Prints their definitions in every rendering and what is read of a call, to be compared
//! between builds.

use std::{collections::BTreeMap, path::PathBuf};

use insomnia_tasks::{Tool, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

/// Read a text file of the workspace.
#[derive(Deserialize, JsonSchema, Tool)]
pub struct ReadFile {
    /// Path below the workspace root.
    pub path: PathBuf,
    /// First line to read, from 1.
    pub line: Option<u32>,
}

/// Write a text file of the workspace.
#[derive(Deserialize, JsonSchema, Tool)]
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
#[derive(Deserialize, JsonSchema, Tool)]
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
#[derive(Deserialize, JsonSchema, Tool)]
pub struct Rename {
    /// New names by old names.
    pub names: BTreeMap<String, String>,
}

#[derive(Toolbox)]
pub enum Tools {
    ReadFile(ReadFile),
    WriteFile(WriteFile),
    Search(Search),
    Rename(Rename),
}

fn main() {
    for definition in Tools::definitions() {
        println!("{}\n{}\n{}", definition.raw(), definition.allow_null(), definition.strict());
    }
    let arguments = r#"{"text": "x", "limit": "3", "likeness": 0.1}"#;
    match Tools::decode("Search", arguments) {
        Ok(Tools::Search(Search { limit, likeness, .. })) => println!("{limit:?} {likeness:?}"),
        _ => println!("not read: {arguments}"),
    }
}
