use std::{fmt::Write, io, path::Path};

use cap_std::fs::{Dir, DirEntry};

use super::{Workspace, workspace::explain};

const MAX_ENTRIES: usize = 200;

impl Workspace {
    /// Lists a folder of the workspace, or its root. One line an entry, sorted by name: kind (`file`, `dir`, `link` or
    /// `other`), size in bytes (`-` unless it is a file), and name. At most 200 entries, then how many more there are.
    ///
    /// # Errors
    /// For the model to read: if there is no such folder below the root.
    pub async fn list_files(&self, path: Option<&str>) -> Result<String, String> {
        self.run(path.unwrap_or("."), |root, path| list(root, path).map_err(|error| explain(path, &error))).await
    }
}

fn list(root: &Dir, path: &Path) -> io::Result<String> {
    let entries: Result<Vec<_>, _> = root.open_dir(path)?.entries()?.collect();
    let mut entries: Vec<_> = entries?.into_iter().map(|entry| (entry.file_name(), entry)).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    if entries.is_empty() {
        return Ok("the folder is empty".to_owned());
    }
    let mut listing = String::new();
    for (name, entry) in entries.iter().take(MAX_ENTRIES) {
        let name = name.to_string_lossy();
        let (kind, size) = kind_and_size(entry);
        // Writing to a string cannot fail.
        let _ = if name.contains(char::is_control) {
            writeln!(listing, "{kind} {size} {name:?}")
        } else {
            writeln!(listing, "{kind} {size} {name}")
        };
    }
    if let Some(more) = entries.len().checked_sub(MAX_ENTRIES + 1) {
        let _ = writeln!(listing, "and {} more", more + 1);
    }
    Ok(listing)
}

fn kind_and_size(entry: &DirEntry) -> (&'static str, String) {
    let none = || "-".to_owned();
    match entry.metadata() {
        Ok(metadata) if metadata.is_file() => ("file", metadata.len().to_string()),
        Ok(metadata) if metadata.is_dir() => ("dir", none()),
        Ok(metadata) if metadata.is_symlink() => ("link", none()),
        // Also what has just gone.
        _ => ("other", none()),
    }
}
