use std::{
    borrow::Cow,
    fmt::Write,
    io::{self, Read},
    path::Path,
};

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{Dir, OpenOptions};

use super::{Workspace, workspace::explain};

const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 16 * 1024;
const MAX_LINE_BYTES: usize = 1_000;
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

impl Workspace {
    /// Reads lines of a text file of the workspace, from `first_line` (1 if absent) on. A heading names the lines shown
    /// and their total; every line has its number. At most 200 lines and 16 KiB; the heading says where to go on. Lines
    /// over 1,000 bytes are cut.
    ///
    /// # Errors
    /// For the model to read: if there is no such file below the root, if it is no regular file, is no UTF-8 text or
    /// larger than 4 MiB, or if it has no such line.
    pub async fn read_file(&self, path: &str, first_line: Option<u32>) -> Result<String, String> {
        self.run(path, move |root, path| {
            let text = read_text(root, path)?;
            show(path, &text, first_line.unwrap_or(1))
        })
        .await
    }
}

fn read_text(root: &Dir, path: &Path) -> Result<String, String> {
    let bytes = read_bytes(root, path).map_err(|error| explain(path, &error))??;
    let text = String::from_utf8(bytes).map_err(|error| error.utf8_error().valid_up_to());
    match text.map(|text| (text.find('\0'), text)) {
        Ok((None, text)) => Ok(text),
        Ok((Some(at), _)) | Err(at) => {
            Err(format!("`{}` is binary or not UTF-8 (see byte {at}): only text files can be read", path.display()))
        }
    }
}

/// The outer error is the operating system's, the inner one ours.
fn read_bytes(root: &Dir, path: &Path) -> io::Result<Result<Vec<u8>, String>> {
    let name = path.display();
    // Looked at first because the mere opening of a device can have effects, and again once it is open because it may
    // have been exchanged. A pipe without a writer would block without `nonblock`.
    let metadata = root.metadata(path)?;
    if metadata.is_dir() {
        return Ok(Err(format!("`{name}` is a folder: use ListFiles")));
    }
    let special = || Ok(Err(format!("`{name}` is a pipe, socket or device: only regular files can be read")));
    if !metadata.is_file() {
        return special();
    }
    let file = root.open_with(path, OpenOptions::new().read(true).nonblock(true))?;
    if !file.metadata()?.is_file() {
        return special();
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Ok(Err(format!("`{name}` is larger than {MAX_FILE_BYTES} bytes: read smaller files")));
    }
    Ok(Ok(bytes))
}

fn show(path: &Path, text: &str, first_line: u32) -> Result<String, String> {
    let path = path.display();
    let total = text.lines().count();
    let first = usize::try_from(first_line).unwrap_or(usize::MAX).max(1);
    if total == 0 {
        return Ok(format!("{path} is empty"));
    }
    if first > total {
        let lines = if total == 1 { "line" } else { "lines" };
        return Err(format!("`{path}` has only {total} {lines}: first_line must be at most {total}"));
    }
    let (mut body, mut last) = (String::new(), first - 1);
    for line in text.lines().skip(first - 1).take(MAX_LINES) {
        let line = cut(line);
        if body.len() + line.len() > MAX_BYTES {
            break;
        }
        last += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(body, "{last:>5}  {line}");
    }
    let more = if last < total { format!("; go on with first_line {}", last + 1) } else { String::new() };
    Ok(format!("{path}, lines {first}-{last} of {total}{more}:\n{body}"))
}

fn cut(line: &str) -> Cow<'_, str> {
    if line.len() <= MAX_LINE_BYTES {
        return line.into();
    }
    let end = (0..=MAX_LINE_BYTES).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    let (start, rest) = line.split_at(end);
    format!("{start} [{} bytes cut]", rest.len()).into()
}
