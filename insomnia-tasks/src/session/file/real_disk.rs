use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::disk::{Disk, DiskFile, Identity, Lock};

/// The file system.
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        if dir.is_dir() {
            return Ok(false);
        }
        #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has modes"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(dir) {
            Ok(()) => Ok(true),
            // someone else made it meanwhile
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock(&self, path: &Path, note: &[u8]) -> io::Result<Lock> {
        let mut file = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)?;
        match file.try_lock() {
            Ok(()) => {
                file.write_all(note)?;
                file.set_len(note.len() as u64)?;
                Ok(Lock::Held(Box::new(LockedFile(file))))
            }
            Err(TryLockError::WouldBlock) => {
                let mut note = Vec::new();
                // the note is a courtesy, and some systems do not let others read a locked file
                _ = file.take(4096).read_to_end(&mut note);
                Ok(Lock::Busy(note))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn open(&self, path: &Path, read_only: bool) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(!read_only).open(path)?;
        Ok(Box::new(RealFile { file, path: path.to_owned() }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = private(OpenOptions::new().read(true).write(true).create_new(true)).open(path)?;
        Ok(Box::new(RealFile { file, path: path.to_owned() }))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        // a rename would replace; a second name for the file does not
        match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // not every file system has hard links; the lock keeps others of our kind away meanwhile
            Err(_) if !fs::exists(to)? => fs::rename(from, to),
            Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir(dir)
    }

    #[cfg(unix)]
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // closing is not enough where a child that is being started still shares the handle
        _ = self.0.unlock();
    }
}

struct RealFile {
    file: File,
    path: PathBuf,
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        let (ours, named) = (self.file.metadata()?, fs::metadata(&self.path)?);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if (ours.dev(), ours.ino()) != (named.dev(), named.ino()) {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the file was replaced"));
            }
        }
        Ok(ours.len().max(named.len()))
    }

    fn identity(&self) -> io::Result<Identity> {
        let metadata = self.file.metadata()?;
        let made = metadata.created().ok();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(Identity { device: metadata.dev(), inode: metadata.ino(), made })
        }
        #[cfg(not(unix))]
        Ok(Identity { made, ..Identity::default() })
    }

    fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        self.read_at(0, limit)
    }

    fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        let size = file.metadata()?.len().saturating_sub(offset).min(length);
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_at(&self.file, bytes, offset);
        #[cfg(not(unix))]
        {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(offset))?;
            file.write(bytes)
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
