//! Stores that break one rule each: the rules that every storage must hold find it.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use futures_util::FutureExt;
use insomnia_tasks::{
    session::{Entry, Header, InboxMessage, Storage, StorageError, StoredSession},
    testing::{Backend, BackendError, check_storage},
};

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Keys are put into another order.
    Reorders,
    /// A flush is acknowledged and what it was to keep is not.
    ForgetsTheLast,
    /// What was never flushed is seen by others.
    ShowsUnflushed,
    /// An entry that is given again is kept again.
    Doubles,
    /// Entries beyond the first hundred of a batch are lost.
    CutsBatches,
    LetsTwoIn,
    StaysOpenWhenClosed,
    /// What is appended after closing is written.
    WritesWhenClosed,
    /// All sessions are one.
    Mixes,
    /// An owner that lost its session writes on.
    DoesNotFence,
    /// Dropping an owner that lost its session gives up the next one's.
    ReleasesOthers,
    /// A message is gone when it was handed out.
    LosesMessages,
    /// A message stays when it was taken in.
    RepeatsMessages,
    /// Messages come newest first.
    TurnsMessages,
    /// A message to nobody is taken.
    TellsNobody,
    /// A new number is that of an entry that is there.
    MiscountsWhenOpened,
    NewHeaderEachTime,
}

const FAULTS: [(Fault, &str); 17] = [
    (Fault::Reorders, "a record was changed"),
    (Fault::ForgetsTheLast, ""),
    (Fault::ShowsUnflushed, "not what was flushed"),
    (Fault::Doubles, "an entry was kept twice"),
    (Fault::CutsBatches, "a batch of 300 records"),
    (Fault::LetsTwoIn, "a second owner was let in"),
    (Fault::StaysOpenWhenClosed, "cannot be opened"),
    (Fault::WritesWhenClosed, "a flush after closing"),
    (Fault::Mixes, ""),
    (Fault::DoesNotFence, "a flush of an owner that lost its session"),
    (Fault::ReleasesOthers, "a second owner was let in after a take-over"),
    (Fault::LosesMessages, "a message was gone"),
    (Fault::RepeatsMessages, "a message that was taken in came again"),
    (Fault::TurnsMessages, "oldest first"),
    (Fault::TellsNobody, "a message to a session that is not there"),
    (Fault::MiscountsWhenOpened, "the next number"),
    (Fault::NewHeaderEachTime, "the header changed"),
];

struct Kept {
    header: Header,
    lines: Vec<String>,
    /// The epoch of the owner; none if nobody has it open.
    owner: Option<u64>,
    inbox: Vec<InboxMessage>,
}

impl Kept {
    fn stored(&self, fault: Fault) -> StoredSession {
        let header = if fault == Fault::NewHeaderEachTime { Header::new(None) } else { self.header.clone() };
        let entries = self.lines.iter().map(|line| Entry::from_json(line).unwrap()).collect();
        let mut stored = StoredSession::from_records(header, entries);
        stored.next_seq -= u64::from(fault == Fault::MiscountsWhenOpened && stored.next_seq > 1);
        stored
    }
}

/// Sessions in the memory of one process.
struct Memory {
    fault: Fault,
    sessions: Arc<Mutex<HashMap<String, Kept>>>,
}

struct Store {
    fault: Fault,
    name: String,
    epoch: u64,
    sessions: Arc<Mutex<HashMap<String, Kept>>>,
    queue: Mutex<(Vec<Entry>, u64)>,
    closed: Mutex<bool>,
}

impl Memory {
    fn take(&self, name: &str, by_force: bool) -> Result<(Store, StoredSession), BackendError> {
        let name = if self.fault == Fault::Mixes { "one" } else { name };
        let mut sessions = self.sessions.lock().unwrap();
        let new = || Kept { header: Header::new(None), lines: Vec::new(), owner: None, inbox: Vec::new() };
        let kept = sessions.entry(name.to_owned()).or_insert_with(new);
        if kept.owner.is_some() && !by_force && ![Fault::LetsTwoIn, Fault::Mixes].contains(&self.fault) {
            return Err("in use".into());
        }
        static EPOCH: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let epoch = EPOCH.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        kept.owner = Some(epoch);
        let queue = Mutex::new((Vec::new(), kept.lines.len() as u64));
        let store = Store {
            fault: self.fault,
            name: name.to_owned(),
            epoch,
            sessions: Arc::clone(&self.sessions),
            queue,
            closed: Mutex::new(false),
        };
        Ok((store, kept.stored(self.fault)))
    }
}

#[async_trait]
impl Backend for Memory {
    type Store = Store;

    async fn open(&self, name: &str) -> Result<(Store, StoredSession), BackendError> {
        self.take(name, false)
    }

    async fn read(&self, name: &str) -> Result<StoredSession, BackendError> {
        let name = if self.fault == Fault::Mixes { "one" } else { name };
        Ok(self.sessions.lock().unwrap().get(name).ok_or("no such session")?.stored(Fault::None))
    }

    async fn take_over(&self, name: &str) -> Option<Result<(Store, StoredSession), BackendError>> {
        Some(self.take(name, true))
    }

    async fn notify(&self, name: &str, text: &str) -> Option<Result<(), BackendError>> {
        let mut sessions = self.sessions.lock().unwrap();
        let Some(kept) = sessions.get_mut(name) else {
            return Some(if self.fault == Fault::TellsNobody { Ok(()) } else { Err("no such session".into()) });
        };
        kept.inbox.push(InboxMessage { id: format!("m-{}", fastrand::u64(..)), text: text.to_owned() });
        Some(Ok(()))
    }
}

impl Store {
    fn fenced(&self) -> StorageError {
        StorageError::Fenced { target: self.name.clone(), by: "another".to_owned() }
    }

    fn write(&self) -> Result<(), StorageError> {
        let mut queue = self.queue.lock().unwrap();
        let mut sessions = self.sessions.lock().unwrap();
        let kept = sessions.get_mut(&self.name).unwrap();
        if queue.0.is_empty() {
            return Ok(());
        }
        if *self.closed.lock().unwrap() && self.fault != Fault::WritesWhenClosed {
            return Err(StorageError::Closed);
        }
        if kept.owner.is_some_and(|owner| owner != self.epoch) && self.fault != Fault::DoesNotFence {
            return Err(self.fenced());
        }
        let batch: Vec<Entry> = queue.0.drain(..).collect();
        let most = match self.fault {
            Fault::CutsBatches => 100,
            Fault::ForgetsTheLast => batch.len() - 1,
            _ => usize::MAX,
        };
        for entry in batch.iter().take(most) {
            let mut line = entry.to_json().unwrap();
            if self.fault == Fault::Reorders {
                line = line.replace(r#""z":1,"a":2"#, r#""a":2,"z":1"#);
            }
            kept.lines.push(line);
            if self.fault != Fault::RepeatsMessages {
                kept.inbox.retain(|message| message.id != entry.id);
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Storage for Store {
    fn append(&self, entry: &Entry) {
        let mut queue = self.queue.lock().unwrap();
        if entry.seq > queue.1 || self.fault == Fault::Doubles {
            queue.1 = entry.seq;
            queue.0.push(entry.clone());
        }
        drop(queue);
        if self.fault == Fault::ShowsUnflushed {
            self.write().unwrap();
        }
    }

    async fn flush(&self) -> Result<(), StorageError> {
        self.write()
    }

    async fn close(&self) -> Result<(), StorageError> {
        self.write()?;
        *self.closed.lock().unwrap() = true;
        if self.fault != Fault::StaysOpenWhenClosed {
            self.release();
        }
        Ok(())
    }

    async fn renew(&self) -> Result<(), StorageError> {
        match self.sessions.lock().unwrap()[&self.name].owner == Some(self.epoch) {
            true => Ok(()),
            false => Err(self.fenced()),
        }
    }

    async fn inbox(&self) -> Result<Vec<InboxMessage>, StorageError> {
        let queued: Vec<String> = self.queue.lock().unwrap().0.iter().map(|entry| entry.id.clone()).collect();
        let mut sessions = self.sessions.lock().unwrap();
        let inbox = &mut sessions.get_mut(&self.name).unwrap().inbox;
        let mut messages: Vec<_> = inbox.iter().filter(|message| !queued.contains(&message.id)).cloned().collect();
        if self.fault == Fault::LosesMessages {
            inbox.clear();
        }
        if self.fault == Fault::TurnsMessages {
            messages.reverse();
        }
        Ok(messages)
    }
}

impl Store {
    fn release(&self) {
        // a rule that is broken ends in a panic, which poisons nothing that is still needed
        let Ok(mut sessions) = self.sessions.lock() else { return };
        let Some(kept) = sessions.get_mut(&self.name) else { return };
        if kept.owner == Some(self.epoch) || self.fault == Fault::ReleasesOthers {
            kept.owner = None;
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.fault != Fault::StaysOpenWhenClosed {
            self.release();
        }
    }
}

fn memory(fault: Fault) -> Memory {
    Memory { fault, sessions: Arc::default() }
}

#[tokio::test]
async fn a_store_without_faults_passes() {
    check_storage(&memory(Fault::None)).await;
}

#[tokio::test]
async fn every_fault_is_found_and_named() {
    for (fault, said) in FAULTS {
        let outcome = AssertUnwindSafe(check_storage(&memory(fault))).catch_unwind().await;
        let panic = outcome.expect_err(&format!("{fault:?} was not noticed"));
        let words =
            panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        let words = words.unwrap_or_default();
        assert!(words.contains(said) && !words.contains("PoisonError"), "{fault:?}: {words}");
    }
}
