use serde_json::{Value, json};

use super::conversation::Conversation;

const MANIFESTS: [&str; 5] = ["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "README.md"];
const BULKY_FOLDERS: [&str; 3] = ["target", "node_modules", "dist"];
const LARGEST_FILE: u64 = 64 * 1024;

/// What the script found out in this turn with the tools that list and read files.
#[derive(Debug, Default)]
pub(super) struct Findings {
    folders: Vec<String>,
    files: Vec<String>,
    listed: Vec<String>,
    tried: Vec<String>,
    read: Vec<String>,
    lines: usize,
}

impl Findings {
    /// Reads the results of `ListFiles` and `ReadFile` from a position on.
    pub(super) fn new(conversation: &Conversation, from: usize) -> Self {
        let mut found = Self::default();
        let path = |arguments: &Value| arguments["path"].as_str().unwrap_or_default().to_owned();
        for listing in conversation.calls("ListFiles", from) {
            let folder = path(listing.arguments);
            if !found.listed.contains(&folder) {
                found.add_listing(&folder, listing.result);
                found.listed.push(folder);
            }
        }
        for reading in conversation.calls("ReadFile", from) {
            let file = path(reading.arguments);
            if let Some(lines) = line_count(reading.result) {
                found.lines += lines;
                found.read.push(file.clone());
            }
            found.tried.push(file);
        }
        found
    }

    /// The next call of a tool on offer: first the manifest, then down to the sources.
    pub(super) fn next_step(&self, offered: &[String]) -> (&'static str, Value) {
        let offers = |name: &str| offered.iter().any(|tool| tool == name);
        let file = self.manifest().or_else(|| if self.unlisted_source() { None } else { self.unread() });
        let call = match file {
            Some(file) if offers("ReadFile") => ("ReadFile", json!({"path": file})),
            _ => match self.unlisted() {
                Some(folder) if !self.listed.is_empty() => ("ListFiles", json!({"path": folder})),
                _ => ("ListFiles", json!({})),
            },
        };
        if offers(call.0) { call } else { ("TaskList", json!({})) }
    }

    /// One sentence on what was found.
    pub(super) fn summary(&self) -> String {
        let listed =
            format!("I listed {} with {}", count(self.listed.len(), "folder"), count(self.files.len(), "file"));
        if self.read.is_empty() {
            return format!("{listed} and read none of them.");
        }
        let (read, lines) = (self.read.len(), count(self.lines, "line"));
        format!("{listed} and read {read} of them, {lines} in all: {}.", self.read.join(", "))
    }

    fn add_listing(&mut self, folder: &str, listing: &str) {
        for line in listing.lines() {
            let mut fields = line.splitn(3, ' ');
            let (Some(kind), Some(size), Some(name)) = (fields.next(), fields.next(), fields.next()) else { continue };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match kind {
                "dir" if !name.starts_with('.') && !BULKY_FOLDERS.contains(&name) => self.folders.push(path),
                "file" => {
                    self.files.push(path.clone());
                    let short = size.parse().is_ok_and(|size: u64| size <= LARGEST_FILE);
                    if !short || name.starts_with('.') || name.ends_with(".lock") {
                        self.tried.push(path);
                    }
                }
                _ => {}
            }
        }
    }

    fn manifest(&self) -> Option<&String> {
        let manifest = MANIFESTS.iter().find_map(|name| self.files.iter().find(|file| file == name))?;
        (!self.tried.contains(manifest)).then_some(manifest)
    }

    /// Files of the folders that were listed last come first.
    fn unread(&self) -> Option<&String> {
        self.files.iter().rev().find(|file| !self.tried.contains(file))
    }

    fn unlisted(&self) -> Option<&String> {
        let mut unlisted = self.folders.iter().filter(|folder| !self.listed.contains(folder));
        let source = unlisted.clone().find(|folder| is_source(folder));
        source.or_else(|| unlisted.next())
    }

    /// Whether to go further down before more files are read: to the first sources, or two folders deep.
    fn unlisted_source(&self) -> bool {
        let found = self.listed.iter().any(|folder| is_source(folder)) || self.listed.len() > 2;
        !found && self.unlisted().is_some()
    }
}

fn is_source(folder: &str) -> bool {
    folder.rsplit('/').next() == Some("src")
}

/// How many lines a `ReadFile` result shows; none if it shows no file.
fn line_count(result: &str) -> Option<usize> {
    let (_, range) = result.lines().next()?.rsplit_once(", lines ")?;
    let (first, rest) = range.split_once('-')?;
    let last = rest.split_once(' ')?.0;
    (last.parse::<usize>().ok()? + 1).checked_sub(first.parse().ok()?)
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered() -> Vec<String> {
        ["ListFiles", "ReadFile", "TaskList"].map(str::to_owned).to_vec()
    }

    fn listed(listings: &[(&str, &str)]) -> Findings {
        let mut found = Findings::default();
        for (folder, listing) in listings {
            found.add_listing(folder, listing);
            found.listed.push((*folder).to_owned());
        }
        found
    }

    #[test]
    fn goes_from_manifest_to_sources() {
        let root =
            "dir - .git\ndir - src\ndir - target\nfile 9 .env\nfile 90 Cargo.toml\nfile 99999999 big.txt\n2 more";
        let mut found = Findings::default();
        assert_eq!(found.next_step(&offered()), ("ListFiles", json!({})));
        found = listed(&[("", root)]);
        assert_eq!(found.next_step(&offered()), ("ReadFile", json!({"path": "Cargo.toml"})));
        found.tried.push("Cargo.toml".to_owned());
        assert_eq!(found.next_step(&offered()), ("ListFiles", json!({"path": "src"})));
        found.add_listing("src", "file 5 a b.rs");
        found.listed.push("src".to_owned());
        assert_eq!(found.next_step(&offered()), ("ReadFile", json!({"path": "src/a b.rs"})));
        found.tried.push("src/a b.rs".to_owned());
        assert_eq!(found.next_step(&offered()), ("ListFiles", json!({})));
    }

    #[test]
    fn takes_task_list_where_nothing_else_is_offered() {
        assert_eq!(Findings::default().next_step(&["TaskList".to_owned()]), ("TaskList", json!({})));
        let found = listed(&[("", "file 1 README.md")]);
        assert_eq!(found.next_step(&["ListFiles".to_owned()]).0, "ListFiles");
    }

    #[test]
    fn counts_the_lines_shown() {
        assert_eq!(line_count("a, lines 1.txt, lines 201-400 of 500; go on with first_line 401:\n 201  x"), Some(200));
        assert_eq!(line_count("error: there is no file `a`"), None);
        assert_eq!(line_count("a, lines 5-1 of 9:"), None);
    }
}
