use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    blobs::Blobs,
    create::write_new,
    damage::Damage,
    disk::{Disk, DiskFile, Lock, write_all_at},
    error::OpenError,
    lock::Holder,
    scan::{CLOSING, NoSession, Scan, Tail, check_start, scan},
    store::FileStore,
    tail::find_start,
    writer::Writer,
};
use crate::{
    Item,
    session::{
        branch::{Branch, suffices},
        line::Blob,
        record::{Entry, EntryBody, FORMAT, Header, now_ms},
    },
};

pub(super) const HISTORY: &str = "history.json";
pub(super) const RESERVE: &str = "history.reserve";
const LOCK: &str = "history.lock";

/// How hard a flush tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// What was flushed survives a power cut: every flush waits for the disk.
    #[default]
    Full,
    /// What was flushed survives the end of the process, but not that of the operating system.
    Os,
}

/// How to open a [`FileStore`].
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    pub(super) durability: Durability,
    instructions: Option<String>,
    tail_only: bool,
}

impl FileOptions {
    /// The defaults: full durability, no instructions.
    pub fn new() -> Self {
        Self::default()
    }

    /// How hard a flush tries.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Reads only what is needed to go on: of a compacted session, the entries from the tail of the newest compaction on. All of
    /// them by default, and where the file is damaged.
    #[must_use]
    pub fn tail_only(mut self, tail_only: bool) -> Self {
        self.tail_only = tail_only;
        self
    }

    /// The system prompt for the header of a new session. A session that exists keeps its own.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

/// An open session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// Where to append.
    pub store: FileStore,
    /// What was there already.
    pub session: StoredSession,
    /// Whether the session was made by this call.
    pub created: bool,
}

/// What a session's file holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredSession {
    /// The first record.
    pub header: Header,
    /// All other records that can be read, in order; with `tail_only` perhaps only the last ones.
    pub entries: Vec<Entry>,
    /// What was wrong with the file.
    pub damage: Vec<Damage>,
    /// The number for the next entry; it counts skipped lines too.
    pub next_seq: u64,
}

impl StoredSession {
    /// What a storage of another kind holds: the header and the entries in order, nothing damaged.
    pub fn from_records(header: Header, entries: Vec<Entry>) -> Self {
        let next_seq = entries.last().map_or(1, |last| last.seq.saturating_add(1));
        Self { header, entries, damage: Vec::new(), next_seq }
    }

    /// The entries that count, in order: neither rewinds nor what they left behind, and none twice.
    pub fn live(&self) -> Vec<&Entry> {
        Branch::new(&self.entries).live
    }

    fn new(scan: Scan) -> Self {
        Self { header: scan.header, entries: scan.entries, damage: scan.damage, next_seq: scan.next_seq }
    }
}

/// Opens or makes the session in a folder.
pub(super) fn open(disk: Arc<dyn Disk>, dir: &Path, options: FileOptions) -> Result<Opened, OpenError> {
    make_folder(&*disk, dir)?;
    let path = dir.join(HISTORY);
    // before the lock file is made, so that a folder of someone else's stays as it is
    if let Some(file) = open_history(&*disk, &path, false)? {
        let start = file.read(64).map_err(OpenError::io("read", &path))?;
        check_start(&start).map_err(|why| no_session(why, &path))?;
    }
    let lock = lock(&*disk, dir)?;
    let (file, created) = match open_history(&*disk, &path, false)? {
        Some(file) => {
            if options.durability == Durability::Full {
                // whoever wrote what is read now may not have come to its flush
                file.sync().and_then(|()| disk.sync_dir(dir)).map_err(OpenError::io("flush", &path))?;
            }
            (file, false)
        }
        None => {
            let blobs = Blobs::new(disk.clone(), dir, options.durability);
            write_new(&*disk, dir, &Header::new(options.instructions), &[], &[], &blobs)?;
            (disk.open(&path, false).map_err(OpenError::io("open", &path))?, true)
        }
    };
    let tail = if options.tail_only { scan_tail(&*file).map_err(OpenError::io("read", &path))? } else { None };
    let mut scan = match tail {
        Some(scan) => scan,
        None => scan_file(&*file, &path)?,
    };
    if let Some(Damage::TornTail { kept_in, .. }) = scan.damage.last_mut() {
        let torn = file.read_at(scan.end, u64::MAX).map_err(OpenError::io("read", &path))?;
        *kept_in = Some(keep_torn(&*disk, dir, &torn)?);
    }
    if scan.tail != Tail::Clean {
        close_array(&*file, scan.end).and_then(|()| file.sync()).map_err(OpenError::io("repair", &path))?;
    }
    fetch_blobs(&mut scan, &Blobs::new(disk.clone(), dir, options.durability));
    let identity = file.identity().map_err(OpenError::io("inspect", &path))?;
    let writer = Writer::new(disk, dir, identity, scan.end, options.durability, lock);
    let store = FileStore::new(writer, scan.next_seq.saturating_sub(1));
    Ok(Opened { store, session: StoredSession::new(scan), created })
}

/// Reads the session in a folder and changes nothing, whether or not someone is writing it.
pub(super) fn read(disk: &Arc<dyn Disk>, dir: &Path) -> Result<StoredSession, OpenError> {
    read_scan(disk, dir).map(StoredSession::new)
}

/// Like [`read`], with the batch that each entry was written in.
#[cfg(feature = "postgres")]
pub(super) fn read_batches(
    disk: &Arc<dyn Disk>,
    dir: &Path,
) -> Result<(StoredSession, Vec<Option<crate::session::line::Batch>>), OpenError> {
    let mut scan = read_scan(disk, dir)?;
    let batches = std::mem::take(&mut scan.batches);
    Ok((StoredSession::new(scan), batches))
}

fn read_scan(disk: &Arc<dyn Disk>, dir: &Path) -> Result<Scan, OpenError> {
    let path = dir.join(HISTORY);
    let file = open_history(&**disk, &path, true)?.ok_or_else(|| OpenError::Missing { path: dir.to_owned() })?;
    let mut scan = scan_file(&*file, &path)?;
    fetch_blobs(&mut scan, &Blobs::new(disk.clone(), dir, Durability::default()));
    Ok(scan)
}

fn scan_file(file: &dyn DiskFile, path: &Path) -> Result<Scan, OpenError> {
    let length = file.len().map_err(OpenError::io("inspect", path))?;
    scan(file, length, None).map_err(|why| no_session(why, path))
}

/// Reads what is needed to go on after the newest compaction; none where that does not do, or anything is odd.
fn scan_tail(file: &dyn DiskFile) -> io::Result<Option<Scan>> {
    let length = file.len()?;
    let Some(start) = find_start(file, length)? else { return Ok(None) };
    let scan = match scan(file, length, Some(start)) {
        Ok(scan) => scan,
        Err(NoSession::Io(error)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let sound = scan.damage.iter().all(|damage| matches!(damage, Damage::TornTail { .. } | Damage::UnknownKind { .. }));
    Ok((sound && suffices(start.seq, &scan.entries)).then_some(scan))
}

/// Puts the large messages in.
fn fetch_blobs(scan: &mut Scan, blobs: &Blobs) {
    for (index, Blob { kind, name }) in std::mem::take(&mut scan.blobs) {
        let Some(entry) = scan.entries.get_mut(index) else { continue };
        match blobs.get(&name) {
            Ok(message) => entry.body = EntryBody::Item(Item::from_stored(kind, Arc::from(message))),
            Err(reason) => scan.damage.push(Damage::Blob { seq: entry.seq, path: blobs.path(&name), reason }),
        }
    }
}

/// Closes the array behind its last record and cuts what follows. In this order the file never has to grow back.
pub(super) fn close_array(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    write_all_at(file, CLOSING, end)?;
    file.set_len(end + CLOSING.len() as u64)
}

/// Makes a folder and those above it that are absent, and flushes each name into the folder above.
pub(super) fn make_folder(disk: &dyn Disk, dir: &Path) -> Result<(), OpenError> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let made = match (disk.create_dir(dir), parent) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(disk, parent)?;
            disk.create_dir(dir)
        }
        (made, _) => made,
    };
    let made = made.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => OpenError::NotAFolder { path: dir.to_owned() },
        _ => OpenError::CreateFolder { path: dir.to_owned(), source },
    })?;
    if made {
        let parent = parent.unwrap_or(Path::new("."));
        disk.sync_dir(parent).map_err(|error| {
            // so that the next attempt makes it again, and flushes its name
            _ = disk.remove_dir(dir);
            OpenError::io("flush", parent)(error)
        })?;
    }
    Ok(())
}

pub(super) fn open_history(
    disk: &dyn Disk,
    path: &Path,
    read_only: bool,
) -> Result<Option<Box<dyn DiskFile>>, OpenError> {
    match disk.open(path, read_only) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(None),
            io::ErrorKind::NotADirectory => {
                Err(OpenError::NotAFolder { path: path.parent().unwrap_or(path).to_owned() })
            }
            io::ErrorKind::IsADirectory => Err(OpenError::Foreign { path: path.to_owned() }),
            _ => Err(OpenError::io(if read_only { "read" } else { "open" }, path)(error)),
        },
    }
}

fn no_session(why: NoSession, path: &Path) -> OpenError {
    let path = path.to_owned();
    match why {
        NoSession::Io(source) => OpenError::Io { action: "read", path, source },
        NoSession::Foreign => OpenError::Foreign { path },
        NoSession::DamagedHeader(detail) => OpenError::DamagedHeader { path, detail },
        NoSession::Newer(found) => OpenError::NewerFormat { path, found, supported: FORMAT },
    }
}

pub(super) fn lock(disk: &dyn Disk, dir: &Path) -> Result<Box<dyn Send>, OpenError> {
    let path = dir.join(LOCK);
    match disk.lock(&path, &Holder::this_process().to_note()).map_err(OpenError::io("lock", &path))? {
        Lock::Held(guard) => Ok(guard),
        Lock::Busy(note) => Err(OpenError::InUse { path: dir.to_owned(), holder: Holder::from_note(&note) }),
    }
}

/// Keeps what is about to be cut, and returns where.
fn keep_torn(disk: &dyn Disk, dir: &Path, torn: &[u8]) -> Result<PathBuf, OpenError> {
    let time = now_ms();
    let mut path = dir.join(format!("{HISTORY}.torn-{time}"));
    let mut file = disk.create(&path);
    for again in 1..100 {
        if !matches!(&file, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
        path = dir.join(format!("{HISTORY}.torn-{time}-{again}"));
        file = disk.create(&path);
    }
    let keep = |file: Box<dyn DiskFile>| {
        write_all_at(&*file, torn, 0)?;
        file.sync()?;
        disk.sync_dir(dir)
    };
    file.and_then(keep).map_err(OpenError::io("copy the unfinished write to", &path))?;
    Ok(path)
}
