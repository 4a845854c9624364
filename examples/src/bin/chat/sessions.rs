//! `chat sessions`: what there is under the user's data folder.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use insomnia_tasks::session::Session;

use crate::{
    failure::Failure,
    session,
    terminal::{note, visible},
};

/// One line a session on stdout, the latest first.
pub(crate) fn print() -> Result<(), Failure> {
    let folder = session::folder()?;
    let mut found: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.join("history.json").exists());
    let mut lines = Vec::new();
    for path in found {
        match Session::read(&path) {
            Ok(session) => lines.push((session.updated(), line(&session, &path))),
            Err(error) => note!("{}", visible(&error.to_string())),
        }
    }
    if lines.is_empty() {
        note!("no sessions in `{}` yet", visible(&folder.display().to_string()));
    }
    lines.sort();
    let mut out = std::io::stdout().lock();
    for (_, line) in lines.into_iter().rev() {
        match std::io::Write::write_all(&mut out, line.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                return Err(Failure::Turn(format!("cannot write to stdout: {error}")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn line(session: &Session, path: &Path) -> String {
    let counts = session.tasks().counts();
    let (turns, open) = (session.turn(), counts.pending + counts.inprogress);
    let size = size(path);
    let time = date(session.updated() / 1_000);
    let path = visible(&path.display().to_string());
    format!("{time}  {turns:>4} turns  {open:>3} open tasks  {size:>9}  {path}\n")
}

/// What the session takes on the disk.
fn size(folder: &Path) -> String {
    let blobs = fs::read_dir(folder.join("blobs")).into_iter().flatten().flatten();
    let files = blobs.map(|entry| entry.path()).chain([folder.join("history.json")]);
    let bytes: u64 = files.filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum();
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// Seconds since 1970 as a date, in UTC.
fn date(seconds: u64) -> String {
    // beyond the year 9999 the form has no place for it
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.min(253_402_300_799));
    let date = httpdate::fmt_http_date(time);
    // "Tue, 01 Dec 2026 05:30:00 GMT"
    date.get(5..22).unwrap_or(&date).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_short() {
        assert_eq!(date(1_796_103_000), "01 Dec 2026 05:30");
        assert_eq!(date(u64::MAX), "31 Dec 9999 23:59");
    }
}
