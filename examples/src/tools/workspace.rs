use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{ambient_authority, fs::Dir};

/// A folder that tools may look at. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: Arc<Path>,
    dir: Arc<Dir>,
}

impl Workspace {
    /// The workspace below this folder. The folder stays the same one even if it is renamed later.
    ///
    /// # Errors
    /// If it is no folder, or cannot be opened.
    pub fn new(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref().canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Self { root: root.into(), dir: Arc::new(dir) })
    }

    /// Runs a tool on a path of the model's, off the async threads.
    pub(super) async fn run(
        &self,
        path: &str,
        tool: impl FnOnce(&Dir, &Path) -> Result<String, String> + Send + 'static,
    ) -> Result<String, String> {
        let path = self.relative(path)?;
        let dir = self.dir.clone();
        let done = tokio::task::spawn_blocking(move || tool(&dir, &path)).await;
        done.unwrap_or_else(|_| Err("the tool was interrupted".to_owned()))
    }

    /// The path from the root. An absolute path is taken if it lies below the root.
    fn relative(&self, path: &str) -> Result<PathBuf, String> {
        let inside = Path::new(path);
        let mut relative = PathBuf::new();
        for component in inside.strip_prefix(&self.root).unwrap_or(inside).components() {
            match component {
                Component::Normal(name) => relative.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(format!("`{path}` has a `..`: give the path from the workspace folder down"));
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(format!("`{path}` is outside the workspace: give a path relative to it"));
                }
            }
        }
        if relative.as_os_str().is_empty() {
            relative.push(".");
        }
        Ok(relative)
    }
}

/// What to tell the model about a path that cannot be opened.
pub(super) fn explain(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no `{path}`: ListFiles shows what there is"),
        io::ErrorKind::NotADirectory => format!("`{path}` is no folder: use ReadFile for files"),
        // The refusal to leave the root does not come from the operating system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            format!("`{path}` is a link that leads outside the workspace and is not followed")
        }
        _ => format!("`{path}` cannot be read: {error}"),
    }
}
