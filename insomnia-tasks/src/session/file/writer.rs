use std::{io, path::PathBuf, sync::Arc};

use super::{
    disk::{Disk, DiskFile, write_all_at},
    open::{Durability, close_array},
    scan::{CLOSING, scan},
};
use crate::session::StorageError;

/// The one writer of a file. It holds the session's lock.
pub(super) struct Writer {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// None while what the file holds behind `end` is not known: after a failure, and while a write is under way.
    file: Option<Box<dyn DiskFile>>,
    /// Where the last acknowledged record ends.
    end: u64,
    durability: Durability,
    /// Why this writer gave up.
    failed: Option<String>,
    _lock: Box<dyn Send>,
}

impl Writer {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        file: Box<dyn DiskFile>,
        end: u64,
        durability: Durability,
        lock: Box<dyn Send>,
    ) -> Self {
        Self { disk, path, file: Some(file), end, durability, failed: None, _lock: lock }
    }

    /// Writes records behind the last one and makes them durable. `bytes` begin behind the end of the last record and end
    /// with the closing line. On an error the file is as before, or is brought there by the next commit.
    pub(super) fn commit(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        if let Some(detail) = &self.failed {
            return Err(StorageError::Failed { target: self.target(), detail: detail.clone() });
        }
        if let Some(file) = &self.file {
            self.check(&**file)?;
        }
        let file = self.file.take().map_or_else(|| self.reopen(), Ok)?;
        let file = self.write(file, bytes)?;
        if self.durability == Durability::Full && file.sync().is_err() {
            // after a failed flush the system may hold the lost pages for clean: only a new write brings them back
            drop(file);
            let file = self.reopen()?;
            let file = self.write(file, bytes)?;
            file.sync().map_err(|source| self.fail_flush(source))?;
            self.file = Some(file);
        } else {
            self.file = Some(file);
        }
        self.end += (bytes.len() - CLOSING.len()) as u64;
        Ok(())
    }

    fn check(&self, file: &dyn DiskFile) -> Result<(), StorageError> {
        let expected = self.end + CLOSING.len() as u64;
        let detail = match file.len() {
            Ok(length) if length == expected => return Ok(()),
            Ok(length) => format!("it has {length} bytes in place of {expected}"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => error.to_string(),
            Err(source) => return Err(self.error("inspect", source)),
        };
        Err(StorageError::OtherWriter { target: self.target(), detail })
    }

    fn write(&mut self, file: Box<dyn DiskFile>, bytes: &[u8]) -> Result<Box<dyn DiskFile>, StorageError> {
        let Err(source) = write_all_at(&*file, bytes, self.end) else { return Ok(file) };
        if close_array(&*file, self.end).and_then(|()| file.sync()).is_ok() {
            self.file = Some(file);
        }
        Err(self.error("write to", source))
    }

    /// Opens the file anew, makes sure that all acknowledged records are in it, and cuts what is behind them.
    fn reopen(&mut self) -> Result<Box<dyn DiskFile>, StorageError> {
        let file = self.disk.open(&self.path, false).map_err(|source| self.error("open", source))?;
        let bytes = file.read(self.end).map_err(|source| self.error("read", source))?;
        let intact = scan(&bytes).is_ok_and(|scan| scan.end as u64 == self.end);
        if !intact {
            return Err(self.fail("after a failed write, records that were on the disk are gone".to_owned()));
        }
        close_array(&*file, self.end).map_err(|source| self.error("repair", source))?;
        file.sync().map_err(|source| self.fail_flush(source))?;
        Ok(file)
    }

    /// A flush that fails on a fresh handle too. Only where there is no room, as some file systems say so late, is there
    /// hope.
    fn fail_flush(&mut self, source: io::Error) -> StorageError {
        match self.error("flush", source) {
            StorageError::Io { source, .. } => self.fail(format!("flushing failed twice: {source}")),
            other => other,
        }
    }

    fn fail(&mut self, detail: String) -> StorageError {
        self.failed = Some(detail.clone());
        StorageError::Failed { target: self.target(), detail }
    }

    fn error(&self, action: &'static str, source: io::Error) -> StorageError {
        let target = self.target();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StorageError::Full { target, source }
            }
            _ => StorageError::Io { action, target, source },
        }
    }

    fn target(&self) -> String {
        self.path.display().to_string()
    }
}
