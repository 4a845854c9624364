use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::value::RawValue;

use super::{
    disk::{Disk, DiskFile, write_all_at},
    open::Durability,
};
use crate::session::digest::Sha256;

/// Messages beyond so many bytes are kept in files of their own.
pub(super) const BLOB_FROM: usize = 256 * 1024;

/// The large messages of a session: files in `blobs/` whose names are the SHA-256 of what they hold.
pub(super) struct Blobs {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    durability: Durability,
}

impl Blobs {
    pub(super) fn new(disk: Arc<dyn Disk>, session: &Path, durability: Durability) -> Self {
        Self { disk, folder: session.join("blobs"), durability }
    }

    /// Where a message is kept.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Keeps a message, if it is large, and returns its name. It is durable then.
    pub(super) fn put(&self, message: &RawValue) -> io::Result<Option<String>> {
        let message = message.get().as_bytes();
        if message.len() <= BLOB_FROM {
            return Ok(None);
        }
        let name = Sha256::of(message);
        let path = self.path(&name);
        let whole = |file: &dyn DiskFile| file.read(message.len() as u64 + 1).is_ok_and(|bytes| bytes == message);
        match self.disk.open(&path, false).ok().filter(|file| whole(&**file)) {
            // whoever wrote it may not have come to its flush
            Some(file) => self.flush(&*file)?,
            None => self.write(&path, message)?,
        }
        if self.durability == Durability::Full {
            self.disk.sync_dir(&self.folder)?;
            self.disk.sync_dir(self.folder.parent().unwrap_or(&self.folder))?;
        }
        Ok(Some(name))
    }

    fn write(&self, path: &Path, message: &[u8]) -> io::Result<()> {
        self.disk.create_dir(&self.folder)?;
        let new = path.with_extension("new");
        self.disk.remove(&new)?; // left by a crash
        self.disk.remove(path)?; // it was never whole
        let file = self.disk.create(&new)?;
        if let Err(error) = write_all_at(&*file, message, 0).and_then(|()| self.flush(&*file)) {
            // gives back the room that it took; what matters is the first error
            _ = self.disk.remove(&new);
            return Err(error);
        }
        self.disk.rename_new(&new, path)
    }

    fn flush(&self, file: &dyn DiskFile) -> io::Result<()> {
        match self.durability {
            Durability::Full => file.sync(),
            Durability::Os => Ok(()),
        }
    }

    /// Reads a message back.
    ///
    /// # Errors
    /// In words, if it is gone or is not what it was.
    pub(super) fn get(&self, name: &str) -> Result<Box<RawValue>, String> {
        if name.len() != 64 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("its name is no SHA-256".to_owned());
        }
        let file = self.disk.open(&self.path(name), true).map_err(|error| error.to_string())?;
        let bytes = file.read(u64::MAX).map_err(|error| error.to_string())?;
        if Sha256::of(&bytes) != name {
            return Err("its bytes are not what they were".to_owned());
        }
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        RawValue::from_string(text).map_err(|error| error.to_string())
    }
}
