//! `chat sessions`: what there is under the user's data folder, or in a database.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use insomnia_tasks::session::{Session, postgres::SessionInfo};

use crate::{
    address::Address,
    failure::Failure,
    place, session,
    terminal::{counted, note, unwritten, visible, write_text},
};

/// One line a session on stdout, the latest first.
pub(crate) async fn print(place: Option<&Path>) -> Result<(), Failure> {
    match place.map(Address::of) {
        None => print_folders(),
        Some(Some(address)) => print_database(&address).await,
        Some(None) => Err(Failure::Usage("only a database can be named: write postgres://HOST/DATABASE".to_owned())),
    }
}

async fn print_database(database: &Address) -> Result<(), Failure> {
    if database.name.is_some() {
        return Err(Failure::Usage("a database is listed as a whole: write postgres://HOST/DATABASE".to_owned()));
    }
    let sessions = place::connect(database)?;
    let (mut lines, mut after) = (Vec::new(), String::new());
    loop {
        let page = sessions.list(&after, 10_000).await.map_err(|error| Failure::Session(error.to_string()))?;
        lines.extend(page.iter().map(|info| (info.updated, database_line(info, database))));
        let Some(last) = page.into_iter().next_back() else { break };
        after = last.name;
    }
    if lines.is_empty() {
        note!("no sessions in `{}` yet", visible(&database.shown()));
    }
    write_lines(lines)
}

fn database_line(info: &SessionInfo, database: &Address) -> String {
    let (time, entries) = (date(info.updated / 1_000), info.entries);
    let owner = info.owner.as_ref().map_or_else(String::new, |owner| format!("  in use by {owner}"));
    let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    format!("{time}  {entries:>14}  {}{}\n", visible(&database.shown_with(&info.name)), visible(&owner))
}

fn print_folders() -> Result<(), Failure> {
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
    write_lines(lines)
}

fn write_lines(mut lines: Vec<(u64, String)>) -> Result<(), Failure> {
    lines.sort();
    let lines: String = lines.into_iter().rev().map(|(_, line)| line).collect();
    write_text(&lines);
    unwritten()
}

fn line(session: &Session, path: &Path) -> String {
    let counts = session.tasks().counts();
    let turns = counted(session.turn(), "turn");
    let open = counted(counts.active(), "open task");
    let size = size(path);
    let time = date(session.updated() / 1_000);
    let path = visible(&path.display().to_string());
    format!("{time}  {turns:>10}  {open:>14}  {size:>9}  {path}\n")
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
