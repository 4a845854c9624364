//! A disk in memory that fails or crashes at the call that a test chooses.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use super::disk::{Disk, DiskFile, Identity, Lock};

/// What happens at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A write takes only half.
    ShortWrite,
    /// From here on no file grows, until [`SimDisk::mend`].
    Full,
    /// From here on no write succeeds, not even in place, until a file is removed: a file system that copies on write.
    NoRoom,
    /// The call fails and does nothing.
    Io,
    /// A flush fails, and what it should have flushed is gone.
    LostFlush,
    /// From here on every flush fails like that.
    DeadFlush,
    /// From here on every call fails; what was not flushed may or may not be found at [`SimDisk::reboot`].
    Crash,
}

#[derive(Clone, Default)]
pub(super) struct SimDisk {
    state: Arc<Mutex<State>>,
    /// Whoever holds it keeps all writes waiting.
    pub(super) gate: Arc<Mutex<()>>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Images>,
    /// The folders, and whether their names are flushed.
    folders: BTreeMap<PathBuf, bool>,
    locked: bool,
    calls: usize,
    flushes: usize,
    fault: Option<(usize, Fault)>,
}

#[derive(Clone, Default)]
struct Images {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// Whether its name is flushed.
    named: bool,
}

impl SimDisk {
    pub(super) fn with_fault(at: usize, fault: Fault) -> Self {
        let disk = Self::default();
        disk.state().fault = Some((at, fault));
        disk
    }

    pub(super) fn with_file(path: &Path, bytes: &[u8]) -> Self {
        let disk = Self::default();
        disk.state()
            .files
            .insert(path.to_owned(), Images { live: bytes.to_vec(), durable: bytes.to_vec(), named: true });
        disk.state().folders.extend(path.ancestors().skip(1).map(|folder| (folder.to_owned(), true)));
        disk
    }

    pub(super) fn bytes(&self, path: &Path) -> Vec<u8> {
        self.state().files[path].live.clone()
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.state().files.contains_key(path)
    }

    pub(super) fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.state().files.get_mut(path).unwrap().live);
    }

    /// The files other than `history.json` and the reserve, which is best effort.
    pub(super) fn others(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let others = |(path, images): (&PathBuf, &Images)| (path.clone(), images.live.clone());
        let own = |path: &Path| path.ends_with("history.json") || path.ends_with("history.reserve");
        self.state().files.iter().map(others).filter(|(path, _)| !own(path)).collect()
    }

    pub(super) fn calls(&self) -> usize {
        self.state().calls
    }

    /// How often a file was flushed.
    pub(super) fn flushes(&self) -> usize {
        self.state().flushes
    }

    pub(super) fn fail_from_now(&self, fault: Fault) {
        self.fail_after(0, fault);
    }

    /// Lets some calls pass before the fault.
    pub(super) fn fail_after(&self, calls: usize, fault: Fault) {
        let mut state = self.state();
        state.fault = Some((state.calls + calls + 1, fault));
    }

    pub(super) fn mend(&self) {
        self.state().fault = None;
    }

    /// The disk after the power came back: of each block that was not flushed, by seed, the old state, the new, or zeros
    /// where there was nothing before. A file or folder whose name was not flushed may be gone with all that is in it.
    pub(super) fn reboot(&self, seed: u64) -> Self {
        let mut dice = seed.wrapping_mul(2).wrapping_add(1);
        let mut roll = move |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        let mut files = self.state().files.clone();
        for images in files.values_mut() {
            let block = 1 << (3 + roll(5));
            let (old, new) = (images.durable.len(), images.live.len());
            let length = [old, new, old.max(new)][roll(3) as usize];
            let mut found = vec![0; length];
            for start in (0..length).step_by(block) {
                let choice = roll(if start >= old { 3 } else { 2 });
                let source: &[u8] = [&images.durable[..], &images.live, &[]][choice as usize];
                let part = &source[start.min(source.len())..(start + block).min(length).min(source.len())];
                if let Some(target) = found.get_mut(start..start + part.len()) {
                    target.copy_from_slice(part);
                }
            }
            *images = Images { live: found.clone(), durable: found, named: images.named };
        }
        files.retain(|_, images| images.named || roll(2) == 0);
        files.values_mut().for_each(|images| images.named = true);
        let mut folders = self.state().folders.clone();
        for (folder, _) in self.state().folders.iter().filter(|(_, durable)| !**durable && roll(2) == 0) {
            folders.retain(|path, _| !path.starts_with(folder));
            files.retain(|path, _| !path.starts_with(folder));
        }
        folders.values_mut().for_each(|durable| *durable = true);
        Self { state: Arc::new(Mutex::new(State { files, folders, ..State::default() })), gate: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Counts a call; returns the state, and the fault if it is in force at this one.
    fn call(&self) -> io::Result<(MutexGuard<'_, State>, Option<Fault>)> {
        let mut state = self.state();
        state.calls += 1;
        let now = state.calls;
        let fault = state.fault.and_then(|(at, fault)| match fault {
            Fault::Full | Fault::NoRoom | Fault::DeadFlush | Fault::Crash => (now >= at).then_some(fault),
            _ => (now == at).then_some(fault),
        });
        match fault {
            Some(Fault::Io | Fault::Crash) => Err(io::Error::other("simulated")),
            _ => Ok((state, fault)),
        }
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        let (mut state, _) = self.call()?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        if parent.is_some_and(|parent| !state.folders.contains_key(parent)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let absent = !state.folders.contains_key(dir);
        if absent {
            state.folders.insert(dir.to_owned(), false);
        }
        Ok(absent)
    }

    fn lock(&self, _path: &Path, _note: &[u8]) -> io::Result<Lock> {
        let (mut state, _) = self.call()?;
        if std::mem::replace(&mut state.locked, true) {
            return Ok(Lock::Busy(Vec::new()));
        }
        Ok(Lock::Held(Box::new(Guard(self.clone()))))
    }

    fn open(&self, path: &Path, _read_only: bool) -> io::Result<Box<dyn DiskFile>> {
        let (state, _) = self.call()?;
        if !state.files.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Box::new(SimFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let (mut state, _) = self.call()?;
        if state.files.insert(path.to_owned(), Images::default()).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(SimFile { disk: self.clone(), path: path.to_owned() }))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (mut state, _) = self.call()?;
        if state.files.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let images = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), Images { named: false, ..images });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (mut state, fault) = self.call()?;
        if state.files.remove(path).is_some() && fault == Some(Fault::NoRoom) {
            state.fault = None;
        }
        Ok(())
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        let (mut state, _) = self.call()?;
        state.folders.remove(dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let (mut state, fault) = self.call()?;
        if matches!(fault, Some(Fault::LostFlush | Fault::DeadFlush)) {
            return Err(io::Error::other("simulated"));
        }
        let below =
            |path: &Path| path.parent().is_some_and(|parent| Path::new(".").join(parent) == Path::new(".").join(dir));
        let State { files, folders, .. } = &mut *state;
        files.iter_mut().filter(|(path, _)| below(path)).for_each(|(_, images)| images.named = true);
        folders.iter_mut().filter(|(path, _)| below(path)).for_each(|(_, durable)| *durable = true);
        Ok(())
    }
}

struct Guard(SimDisk);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

struct SimFile {
    disk: SimDisk,
    path: PathBuf,
}

impl DiskFile for SimFile {
    fn len(&self) -> io::Result<u64> {
        let (state, _) = self.disk.call()?;
        Ok(state.files[&self.path].live.len() as u64)
    }

    fn identity(&self) -> io::Result<Identity> {
        self.disk.call().map(|_| Identity::default())
    }

    fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        let (state, _) = self.disk.call()?;
        let live = &state.files[&self.path].live;
        Ok(live[..live.len().min(limit as usize)].to_vec())
    }

    fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let (state, _) = self.disk.call()?;
        let live = &state.files[&self.path].live;
        let from = live.len().min(offset as usize);
        Ok(live[from..live.len().min(from.saturating_add(length as usize))].to_vec())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let _open = self.disk.gate.lock().unwrap();
        let (mut state, fault) = self.disk.call()?;
        let Images { live, durable, .. } = state.files.get_mut(&self.path).unwrap();
        let start = offset as usize;
        let room = match fault {
            Some(Fault::NoRoom) => 0,
            Some(Fault::ShortWrite) => bytes.len().div_ceil(2),
            // a little is left, as on a real disk in the file's last block
            Some(Fault::Full) => bytes.len().min((durable.len() + 10).saturating_sub(start)),
            _ => bytes.len(),
        };
        if room < bytes.len().min(1) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        live.resize(live.len().max(start + room), 0);
        live[start..start + room].copy_from_slice(&bytes[..room]);
        Ok(room)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let (mut state, _) = self.disk.call()?;
        state.files.get_mut(&self.path).unwrap().live.resize(len as usize, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let (mut state, fault) = self.disk.call()?;
        state.flushes += 1;
        let images = state.files.get_mut(&self.path).unwrap();
        if matches!(fault, Some(Fault::LostFlush | Fault::DeadFlush)) {
            images.live = images.durable.clone();
            return Err(io::Error::other("simulated flush"));
        }
        images.durable = images.live.clone();
        Ok(())
    }
}
