use std::{io, path::Path, sync::Arc};

use super::{
    blobs::Blobs,
    disk::{Disk, write_all_at},
    error::OpenError,
    open::{Durability, HISTORY, lock, make_folder, open_history},
    scan::CLOSING,
    writer::encode,
};
use crate::session::{
    line::{self, Batch},
    record::{Entry, Header},
    storage::StorageError,
};

/// Makes a session that begins with these records, marked as written in these batches where there are any.
pub(super) fn create(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    header: &Header,
    entries: &[Entry],
    batches: &[Option<Batch>],
) -> Result<(), OpenError> {
    let exists = || OpenError::Exists { path: dir.to_owned() };
    make_folder(&**disk, dir)?;
    // before the lock file is made, so that a folder of someone else's stays as it is
    if open_history(&**disk, &dir.join(HISTORY), true)?.is_some() {
        return Err(exists());
    }
    let _lock = lock(&**disk, dir)?;
    let blobs = Blobs::new(disk.clone(), dir, Durability::Full);
    write_new(&**disk, dir, header, entries, batches, &blobs).map_err(|error| match error {
        OpenError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => exists(),
        other => other,
    })
}

/// Writes a session's file, which is there whole or not at all.
pub(super) fn write_new(
    disk: &dyn Disk,
    dir: &Path,
    header: &Header,
    entries: &[Entry],
    batches: &[Option<Batch>],
    blobs: &Blobs,
) -> Result<(), OpenError> {
    let (path, new) = (dir.join(HISTORY), dir.join(format!("{HISTORY}.new")));
    // best effort: it matters only where whoever made the folder was killed before its flush
    _ = disk.sync_dir(dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let fill = || -> io::Result<()> {
        let mut bytes = b"[".to_vec();
        line::write_header(header, &mut bytes)?;
        for (index, entry) in entries.iter().enumerate() {
            bytes.extend_from_slice(b",\n");
            encode(entry, batches.get(index).copied().flatten(), blobs, &mut bytes).map_err(to_io)?;
        }
        bytes.extend_from_slice(CLOSING);
        disk.remove(&new)?; // left by a crash
        let file = disk.create(&new)?;
        write_all_at(&*file, &bytes, 0)?;
        file.sync()?;
        disk.rename_new(&new, &path)?;
        disk.sync_dir(dir)
    };
    fill().map_err(OpenError::io("create", &path))
}

fn to_io(error: StorageError) -> io::Error {
    match error {
        StorageError::Full { source, .. } | StorageError::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}
