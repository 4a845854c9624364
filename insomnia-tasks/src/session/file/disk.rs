use std::{io, path::Path, time::SystemTime};

/// The calls that the store makes on a disk, so that tests can put one in that fails or crashes where they like.
pub(super) trait Disk: Send + Sync {
    /// Makes a folder that only the user can enter and returns whether it was absent; an error if its parent is.
    fn create_dir(&self, dir: &Path) -> io::Result<bool>;

    /// Tries to lock a file that is made if absent and never removed. Whoever gets the lock leaves `note` in the file.
    fn lock(&self, path: &Path, note: &[u8]) -> io::Result<Lock>;

    /// Opens an existing file, for writing too unless `read_only`.
    fn open(&self, path: &Path, read_only: bool) -> io::Result<Box<dyn DiskFile>>;

    /// Makes a file that only the user can read; an error if it exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file; an error if there is one of the new name.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file; fine if there is none.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_dir(&self, dir: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

/// An open file.
pub(super) trait DiskFile: Send {
    /// The length in bytes; an error if the file's path no longer leads to it.
    fn len(&self) -> io::Result<u64>;

    /// What stays the same for as long as it is the same file.
    fn identity(&self) -> io::Result<Identity>;

    /// The first bytes, at most `limit`.
    fn read(&self, limit: u64) -> io::Result<Vec<u8>>;

    /// At most `length` bytes from an offset; fewer only where the file ends.
    fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>>;

    /// Writes at an offset, possibly less than asked; returns how much.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes contents and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// Tells a file from another that was put in its place while nobody had it open. Where the system does not say, all are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// When it was made: the number of a removed file is given away again.
    pub(super) made: Option<SystemTime>,
}

/// What became of an attempt to lock.
pub(super) enum Lock {
    /// Ours until it is dropped.
    Held(Box<dyn Send>),
    /// Another's, who left this note.
    Busy(Vec<u8>),
}

/// Writes all of the bytes, in as many calls as it takes.
pub(super) fn write_all_at(file: &dyn DiskFile, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
