use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    blobs::Blobs,
    disk::{Disk, DiskFile, Identity, write_all_at},
    open::{Durability, HISTORY, RESERVE, close_array},
    reserve::Reserve,
    scan::{CLOSING, NoSession, scan},
};
use crate::session::{
    StorageError,
    line::{self, Batch},
    record::{Entry, EntryBody},
};

/// The one writer of a file. It holds the session's lock, and opens the file for each commit alone: an idle session has one file
/// open, the lock's.
pub(super) struct Writer {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The file. None while what it holds behind `end` is not known: after a failure, and while a write is under way.
    known: Option<Identity>,
    /// Where the last acknowledged record ends.
    end: u64,
    durability: Durability,
    blobs: Blobs,
    reserve: Reserve,
    /// Why this writer gave up.
    failed: Option<String>,
    _lock: Box<dyn Send>,
}

impl Writer {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        folder: &Path,
        known: Identity,
        end: u64,
        durability: Durability,
        lock: Box<dyn Send>,
    ) -> Self {
        let blobs = Blobs::new(disk.clone(), folder, durability);
        let reserve = Reserve::new(disk.clone(), folder.join(RESERVE));
        let path = folder.join(HISTORY);
        Self { disk, path, known: Some(known), end, durability, blobs, reserve, failed: None, _lock: lock }
    }

    /// Writes entries behind the last one and makes them durable. On an error the file is as before, or is brought there by the
    /// next commit.
    pub(super) fn append(&mut self, batch: &[Entry]) -> Result<(), StorageError> {
        let ends = match batch {
            [first, .., last] => Some([first.seq, last.seq]),
            _ => None,
        };
        let mut bytes = Vec::new();
        for entry in batch {
            bytes.extend_from_slice(b",\n");
            encode(entry, ends, &self.blobs, &mut bytes)?;
        }
        bytes.extend_from_slice(CLOSING);
        self.commit(&bytes)
    }

    /// `bytes` begin behind the end of the last record and end with the closing line.
    fn commit(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        if let Some(detail) = &self.failed {
            return Err(StorageError::Failed { target: self.target(), detail: detail.clone() });
        }
        let (mut file, mut identity) = match self.known {
            Some(known) => (self.open(known)?, known),
            None => self.reopen()?,
        };
        self.known = None;
        self.write(&*file, identity, bytes)?;
        if self.durability == Durability::Full && file.sync().is_err() {
            // after a failed flush the system may hold the lost pages for clean: only a new write brings them back
            drop(file);
            (file, identity) = self.reopen()?;
            self.write(&*file, identity, bytes)?;
            file.sync().map_err(|source| self.fail_flush(source))?;
        }
        self.known = Some(identity);
        self.end += (bytes.len() - CLOSING.len()) as u64;
        self.reserve.refill();
        Ok(())
    }

    /// Opens the file as the last commit left it.
    fn open(&self, known: Identity) -> Result<Box<dyn DiskFile>, StorageError> {
        let expected = self.end + CLOSING.len() as u64;
        let detail = match self.disk.open(&self.path, false) {
            Ok(file) => match file.identity().and_then(|found| Ok((found, file.len()?))) {
                Ok((found, length)) if found == known && length == expected => return Ok(file),
                Ok((found, _)) if found != known => "the file was replaced".to_owned(),
                Ok((_, length)) => format!("it has {length} bytes in place of {expected}"),
                Err(error) if error.kind() == io::ErrorKind::NotFound => error.to_string(),
                Err(source) => return Err(self.error("inspect", source)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => error.to_string(),
            Err(source) => return Err(self.error("open", source)),
        };
        Err(StorageError::OtherWriter { target: self.target(), detail })
    }

    fn write(&mut self, file: &dyn DiskFile, identity: Identity, bytes: &[u8]) -> Result<(), StorageError> {
        let Err(source) = write_all_at(file, bytes, self.end) else { return Ok(()) };
        if self.close_array(file).and_then(|()| file.sync()).is_ok() {
            self.known = Some(identity);
        }
        Err(self.error("write to", source))
    }

    /// Opens the file anew, makes sure that all acknowledged records are in it, and cuts what is behind them.
    fn reopen(&mut self) -> Result<(Box<dyn DiskFile>, Identity), StorageError> {
        let file = self.disk.open(&self.path, false).map_err(|source| self.error("open", source))?;
        let intact = match scan(&*file, self.end, None) {
            Ok(scan) => scan.end == self.end,
            Err(NoSession::Io(source)) => return Err(self.error("read", source)),
            Err(_) => false,
        };
        if !intact {
            return Err(self.fail("after a failed write, records that were on the disk are gone".to_owned()));
        }
        self.close_array(&*file).map_err(|source| self.error("repair", source))?;
        file.sync().map_err(|source| self.fail_flush(source))?;
        let identity = file.identity().map_err(|source| self.error("inspect", source))?;
        Ok((file, identity))
    }

    fn close_array(&mut self, file: &dyn DiskFile) -> io::Result<()> {
        close_array(file, self.end).or_else(|error| match self.reserve.spend() {
            true => close_array(file, self.end),
            false => Err(error),
        })
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
        StorageError::system(action, self.target(), source)
    }

    fn target(&self) -> String {
        self.path.display().to_string()
    }
}

/// Appends an entry's line; a large message goes to a file of its own first.
pub(super) fn encode(
    entry: &Entry,
    batch: Option<Batch>,
    blobs: &Blobs,
    bytes: &mut Vec<u8>,
) -> Result<(), StorageError> {
    let blob = match &entry.body {
        EntryBody::Item(item) => blobs
            .put(item.raw())
            .map_err(|source| StorageError::system("write to", blobs.path("").display().to_string(), source))?,
        _ => None,
    };
    line::write_entry(entry, blob.as_deref(), batch, bytes)
        .map_err(|source| StorageError::Entry { seq: entry.seq, source })
}
