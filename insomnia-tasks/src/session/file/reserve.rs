use std::{io, path::PathBuf, sync::Arc};

use super::disk::{Disk, write_all_at};

/// How much is set aside.
const BYTES: usize = 16 * 1024;

/// Some room set aside as a file. On a full disk it is given up, so that the array can be closed again even where the file
/// system needs a new block to overwrite an old one.
pub(super) struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    held: bool,
}

impl Reserve {
    pub(super) fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        let held = disk.open(&path, true).and_then(|file| file.len()).is_ok_and(|length| length == BYTES as u64);
        let mut reserve = Self { disk, path, held };
        reserve.refill();
        reserve
    }

    /// Sets the room aside again. Where there is none, that shows soon enough.
    pub(super) fn refill(&mut self) {
        if !self.held {
            self.held = self.fill().is_ok();
        }
    }

    /// Gives the room up; whether there was any.
    pub(super) fn spend(&mut self) -> bool {
        std::mem::take(&mut self.held) && self.disk.remove(&self.path).is_ok()
    }

    fn fill(&self) -> io::Result<()> {
        self.disk.remove(&self.path)?;
        let file = self.disk.create(&self.path)?;
        // not zeros, which some file systems keep without room
        let bytes: Vec<_> = (0..BYTES).map(|at| (at.wrapping_mul(31) >> 3) as u8 | 1).collect();
        let filled = write_all_at(&*file, &bytes, 0).and_then(|()| file.sync());
        if filled.is_err() {
            _ = self.disk.remove(&self.path);
        }
        filled
    }
}
