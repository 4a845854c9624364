use std::{
    io,
    path::{Path, PathBuf},
};

use super::lock::Holder;

/// Why a session could not be opened. Nothing that was there has been changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder is absent and cannot be made.
    #[error("cannot create the session folder `{path}`: {source}; choose a place that this user can write to")]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The folder or a file in it cannot be written.
    #[error("`{path}` is not writable: {source}; give this user write access, or choose another session folder")]
    NotWritable {
        /// What cannot be written.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The path leads to a file.
    #[error("`{path}` is a file, but a session is a folder: name a folder, or one that does not exist yet")]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// There is no session there to be read.
    #[error("there is no session in `{path}`: check the path")]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// There is a session already where a new one was to be made.
    #[error("there is a session in `{path}` already, and it was left as it is: choose another folder")]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder's `history.json` is something else.
    #[error("`{path}` is not a session's history and was left as it is: choose another folder, or move that file away")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The first line is a session's, but damaged.
    #[error(
        "the first line of `{path}` is damaged ({detail}); the file was left as it is: mend that line or restore a copy"
    )]
    DamagedHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with the line.
        detail: String,
    },
    /// A newer version of this crate wrote the session.
    #[error(
        "`{path}` has format {found}, but this version of insomnia-tasks reads up to {supported}: update the crate"
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The file's format.
        found: u32,
        /// The newest known format.
        supported: u32,
    },
    /// Another process, or another place in this one, has the session open.
    #[error("the session `{path}` is in use by {}: close it there, or choose another folder", holder_text(.holder.as_ref()))]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Who, where it is known.
        holder: Option<Holder>,
    },
    /// Any other failure of the disk.
    #[error("cannot {action} `{path}`: {source}; check the disk and its free space, then open the session again")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What it was tried on.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// The kinds of [`OpenError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// [`OpenError::CreateFolder`]
    CreateFolder,
    /// [`OpenError::NotWritable`]
    NotWritable,
    /// [`OpenError::NotAFolder`]
    NotAFolder,
    /// [`OpenError::Missing`]
    Missing,
    /// [`OpenError::Exists`]
    Exists,
    /// [`OpenError::Foreign`]
    Foreign,
    /// [`OpenError::DamagedHeader`]
    DamagedHeader,
    /// [`OpenError::NewerFormat`]
    NewerFormat,
    /// [`OpenError::InUse`]
    InUse,
    /// [`OpenError::Io`]
    Io,
}

impl OpenError {
    /// Which error this is.
    pub fn kind(&self) -> OpenErrorKind {
        match self {
            Self::CreateFolder { .. } => OpenErrorKind::CreateFolder,
            Self::NotWritable { .. } => OpenErrorKind::NotWritable,
            Self::NotAFolder { .. } => OpenErrorKind::NotAFolder,
            Self::Missing { .. } => OpenErrorKind::Missing,
            Self::Exists { .. } => OpenErrorKind::Exists,
            Self::Foreign { .. } => OpenErrorKind::Foreign,
            Self::DamagedHeader { .. } => OpenErrorKind::DamagedHeader,
            Self::NewerFormat { .. } => OpenErrorKind::NewerFormat,
            Self::InUse { .. } => OpenErrorKind::InUse,
            Self::Io { .. } => OpenErrorKind::Io,
        }
    }

    /// For `map_err`: what was tried, and on what.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if action != "read" => {
                Self::NotWritable { path, source }
            }
            _ => Self::Io { action, path, source },
        }
    }
}

fn holder_text(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), Holder::to_string)
}
