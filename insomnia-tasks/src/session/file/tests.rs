use std::{
    fs, io,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{
    Damage, FileOptions, FileStore, OpenError, OpenErrorKind, Opened,
    disk::{Disk, DiskFile, Lock},
    real_disk::RealDisk,
    sim_disk::SimDisk,
};
use crate::{
    Item, ItemKind,
    session::{Entry, EntryBody, Storage},
};

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        // kept, with its threads: some tests flush a million times
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

pub(super) fn history() -> PathBuf {
    Path::new("s").join("history.json")
}

pub(super) fn user(seq: u64, text: &str) -> Entry {
    Entry::new(seq, 1, EntryBody::Item(Item::user_message(text)))
}

pub(super) fn messages(entries: &[Entry]) -> Vec<String> {
    let message = |entry: &Entry| match &entry.body {
        EntryBody::Item(item) => Some(item.json().to_owned()),
        _ => None,
    };
    entries.iter().filter_map(message).collect()
}

fn open(dir: &Path) -> Result<Opened, OpenError> {
    FileStore::open(dir, FileOptions::new())
}

fn open_error(dir: &Path) -> OpenError {
    let error = open(dir).unwrap_err();
    assert!(error.to_string().contains(&dir.display().to_string()), "names the path: {error}");
    error
}

/// One of each body, in batches of 1, 3 and 2.
fn sample(dir: &Path) -> Vec<u8> {
    let Opened { store, .. } = FileStore::open(dir, FileOptions::new().instructions("Be \"brief\".\n")).unwrap();
    let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
    let odd = r#"{"role":"assistant","content":"\ud800 \u0000 ü","n":1.50e1,"x":{"batch":[1,2]}}"#;
    let bodies = [
        EntryBody::Item(Item::user_message("hi")),
        EntryBody::Item(Item::from_json(odd).unwrap()),
        EntryBody::TaskEdit(raw("{\"taskid\":1,\n\"status\":\"completed\"}")),
        EntryBody::Dialect(raw("null")),
        EntryBody::Instructions("Be long.".to_owned()),
        EntryBody::Item(Item::task_reminder("now")),
    ];
    for (seq, body) in (1..).zip(bodies) {
        store.append(&Entry::new(seq, 1, body));
        if [1, 4, 6].contains(&seq) {
            block_on(store.flush()).unwrap();
            let bytes = fs::read(dir.join("history.json")).unwrap();
            serde_json::from_slice::<Vec<&RawValue>>(&bytes).unwrap();
        }
    }
    fs::read(dir.join("history.json")).unwrap()
}

#[test]
fn reads_back_every_byte() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = sample(dir.path());
    let Opened { session, created, .. } = open(dir.path()).unwrap();
    assert!(!created);
    assert_eq!(session.header.instructions.as_deref(), Some("Be \"brief\".\n"));
    assert_eq!((session.next_seq, session.damage.len()), (7, 0));
    assert_eq!(session.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    let bodies: Vec<_> = session.entries.iter().map(|entry| &entry.body).collect();
    let [
        EntryBody::Item(_),
        EntryBody::Item(odd),
        EntryBody::TaskEdit(task),
        EntryBody::Dialect(dialect),
        EntryBody::Instructions(text),
        EntryBody::Item(reminder),
    ] = bodies[..]
    else {
        panic!("{bodies:?}")
    };
    assert_eq!(odd.json(), r#"{"role":"assistant","content":"\ud800 \u0000 ü","n":1.50e1,"x":{"batch":[1,2]}}"#);
    assert_eq!(task.get(), r#"{"taskid":1, "status":"completed"}"#);
    assert_eq!((dialect.get(), text.as_str()), ("null", "Be long."));
    assert_eq!(reminder.kind(), ItemKind::TaskReminder);
    assert_eq!(fs::read(dir.path().join("history.json")).unwrap(), bytes, "opening and closing adds no byte");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "the history, the lock and the reserve");
}

#[test]
fn keeps_ten_megabytes_and_unknown_records() {
    let dir = tempfile::tempdir().unwrap();
    let big = "x".repeat(10_000_000);
    let unknown = r#"{"record":"dream","seq":2,"kind":7,"message":[]}"#;
    {
        let Opened { store, .. } = open(dir.path()).unwrap();
        store.append(&user(1, &big));
        store.append(&Entry::from_json(unknown).unwrap());
        block_on(store.close()).unwrap();
    }
    let session = FileStore::read(dir.path()).unwrap();
    assert_eq!(messages(&session.entries), [Item::user_message(&big).json()]);
    assert!(matches!(&session.entries[1].body, EntryBody::Unknown(whole) if whole.get() == unknown));
}

#[test]
fn recovers_a_prefix_wherever_the_file_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = sample(dir.path());
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    for cut in 0..bytes.len() {
        for zeros in [0, 700] {
            let torn = [&bytes[..cut], &vec![0; zeros]].concat();
            let disk = SimDisk::with_file(&history(), &torn);
            let open = || FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new());
            let opened = match open() {
                Ok(opened) => opened,
                Err(error) => {
                    // the header's last byte may be its comma
                    assert!(cut < header, "{cut}: {error}");
                    assert_eq!(error.kind(), OpenErrorKind::DamagedHeader);
                    assert_eq!(disk.bytes(&history()), torn);
                    continue;
                }
            };
            let count = opened.session.entries.len();
            assert!([0, 1, 4, 6].contains(&count), "cut at {cut}: {count}");
            assert_eq!(opened.session.next_seq, count as u64 + 1);
            let recovered = disk.bytes(&history());
            let kept = recovered.strip_suffix(b"\n]\n").unwrap();
            assert!(bytes.starts_with(kept), "cut at {cut}");
            match (opened.session.damage.as_slice(), disk.others().as_slice()) {
                ([], []) => assert!(torn[kept.len()..].iter().all(|byte| b",\n]".contains(byte))),
                ([Damage::TornTail { bytes, kept_in: Some(path) }], [(other, copy)]) => {
                    assert_eq!((path, *bytes), (other, copy.len() as u64));
                    assert_eq!([kept, copy].concat(), torn, "every byte is kept");
                }
                other => panic!("cut at {cut}: {other:?}"),
            }
            drop(opened);
            assert!(open().unwrap().session.damage.is_empty());
            assert_eq!(disk.bytes(&history()), recovered, "a second recovery changes nothing");
        }
    }
}

#[test]
fn cuts_a_last_batch_with_a_hole() {
    let dir = tempfile::tempdir().unwrap();
    let good = String::from_utf8(sample(dir.path())).unwrap();
    let (before, batch) = good.split_at(good.match_indices(",\n").nth(4).unwrap().0);
    let (first, rest) = batch.split_at(batch[2..].find(",\n").unwrap() + 2);
    assert_eq!((before.lines().count(), rest.lines().count()), (5, 3));
    let holes = [
        // the block with the old closing line stayed as it was
        format!("{before}\n]\n{}{rest}", &first[3..]),
        // a block never came: within the first line of the batch, over all of it, and over its end
        format!("{before}{}{}{rest}", &first[..20], "\0".repeat(30)),
        format!("{before},\n{}{}", "\0".repeat(first.len()), &rest[1..]),
        format!("{before}\0\0{}", &rest[1..]),
    ];
    for torn in holes {
        let disk = SimDisk::with_file(&history(), torn.as_bytes());
        let opened = FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new()).unwrap();
        assert_eq!((opened.session.entries.len(), opened.session.next_seq), (4, 5), "{torn:?}");
        assert_eq!(disk.bytes(&history()), [before, "\n]\n"].concat().into_bytes());
        assert_eq!(disk.others()[0].1, torn.as_bytes()[before.len()..]);
    }
}

#[test]
fn keeps_and_reports_a_bad_line_in_the_middle() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.json");
    let good = String::from_utf8(sample(dir.path())).unwrap();
    for (line, bad) in [(2, "garbage,"), (4, "{\"record\":\"item\",\"seq\":3},"), (5, ","), (6, "{\"record\":\"it")] {
        let mut lines: Vec<_> = good.lines().collect();
        lines[line - 1] = bad;
        let text = lines.join("\n") + "\n";
        fs::write(&path, &text).unwrap();
        let Opened { store, session, .. } = open(dir.path()).unwrap();
        assert_eq!(session.entries.len(), 5, "{bad}");
        let [Damage::Line { line: reported, .. } | Damage::Gap { line: reported, .. }] = session.damage[..] else {
            panic!("{bad}: {:?}", session.damage)
        };
        assert_eq!(reported, if bad == "," { line + 1 } else { line });
        assert_eq!(session.next_seq, 7);
        store.append(&user(7, "on"));
        block_on(store.flush()).unwrap();
        drop(store);
        assert!(fs::read_to_string(&path).unwrap().starts_with(text.strip_suffix("\n]\n").unwrap()));
        assert_eq!(FileStore::read(dir.path()).unwrap().entries.len(), 6);
    }
}

#[test]
fn writes_what_is_queued_when_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let Opened { store, .. } = open(dir.path()).unwrap();
    store.append(&user(1, "not flushed"));
    drop(store);
    assert_eq!(open(dir.path()).unwrap().session.entries.len(), 1);
}

#[test]
fn a_write_torn_within_the_old_closing_line_costs_nothing_acknowledged() {
    let record = |seq: u64, batch: &str| {
        let text = user(seq, "x").to_json().unwrap();
        format!("{}{batch}}}", text.strip_suffix('}').unwrap())
    };
    let header = String::from_utf8(sample(tempfile::tempdir().unwrap().path())).unwrap();
    let header = header.lines().next().unwrap().trim_end_matches(',');
    let kept = format!("{header},\n{}", record(1, ""));
    let one = record(2, "");
    let two = format!("{},\n{}", record(2, ",\"batch\":[2,3]"), record(3, ",\"batch\":[2,3]"));
    for written in [one, two] {
        // of the three bytes between the old records and the new ones, each may be the old or the new one
        for (between, whole) in [(",]\n", false), ("\n\n{", false), ("\n]{", false), (",\n\n", false), (",\n{", true)] {
            for rest in [format!("{}\n]\n", &written[1..]), "\0".repeat(90)] {
                let count = if whole && !rest.starts_with('\0') { 1 + written.lines().count() } else { 1 };
                let text = format!("{kept}{between}{rest}");
                let disk = SimDisk::with_file(&history(), text.as_bytes());
                let opened = FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new()).unwrap();
                assert_eq!(opened.session.entries.len(), count, "{text:?}");
                serde_json::from_slice::<Vec<&RawValue>>(&disk.bytes(&history())).unwrap();
            }
        }
    }
}

#[test]
fn never_reuses_a_number_behind_a_bad_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.json");
    let text = String::from_utf8(sample(dir.path())).unwrap();
    let again = text.lines().nth(1).unwrap().trim_end_matches(',');
    fs::write(&path, text.replace("\n]\n", &format!(",\n{again}\n]\n"))).unwrap();
    let session = open(dir.path()).unwrap().session;
    assert_eq!((session.entries.len(), session.next_seq), (6, 8));
    assert!(session.damage[0].to_string().contains("`seq` 1 again"), "{:?}", session.damage);
}

#[test]
fn leaves_what_is_not_ours_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.json");
    let cases: [(&str, OpenErrorKind); 9] = [
        ("[1, 2]", OpenErrorKind::Foreign),
        ("{\"a\":1}", OpenErrorKind::Foreign),
        ("dear diary", OpenErrorKind::Foreign),
        ("[]", OpenErrorKind::Foreign),
        ("", OpenErrorKind::DamagedHeader),
        ("[{\"rec", OpenErrorKind::DamagedHeader),
        ("[{\"record\":\"header\",\"format\":1,\"session\":3}\n]\n", OpenErrorKind::DamagedHeader),
        ("[{\"record\":\"header\",\"format\":0.5}\n]\n", OpenErrorKind::DamagedHeader),
        ("[{\"record\":\"header\",\"format\":2,\"new\":true}\n]\n", OpenErrorKind::NewerFormat),
    ];
    for (text, kind) in cases {
        fs::write(&path, text).unwrap();
        assert_eq!(open_error(dir.path()).kind(), kind, "{text}");
        assert_eq!(FileStore::read(dir.path()).unwrap_err().kind(), kind, "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let error = open_error(dir.path()).to_string();
    assert!(error.contains("format 2") && error.contains("update"), "{error}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(open_error(dir.path()).kind(), OpenErrorKind::Foreign);
}

#[test]
fn says_why_a_folder_cannot_be_used() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    assert_eq!(open_error(&file).kind(), OpenErrorKind::NotAFolder);
    assert_eq!(open_error(&file.join("below")).kind(), OpenErrorKind::CreateFolder);
    assert_eq!(FileStore::read(&dir.path().join("absent")).unwrap_err().kind(), OpenErrorKind::Missing);
    assert_eq!(FileStore::read(dir.path()).unwrap_err().kind(), OpenErrorKind::Missing);
    assert!(!dir.path().join("absent").exists(), "reading makes nothing");

    for (refused, kind) in [
        (io::ErrorKind::PermissionDenied, OpenErrorKind::NotWritable),
        (io::ErrorKind::ReadOnlyFilesystem, OpenErrorKind::NotWritable),
        (io::ErrorKind::StorageFull, OpenErrorKind::Io),
    ] {
        let error = FileStore::open_on(Arc::new(Refusing(refused)), dir.path(), FileOptions::new()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

/// A disk that lets nobody write. File modes would not stop a test that runs as root.
struct Refusing(io::ErrorKind);

impl Disk for Refusing {
    fn create_dir(&self, dir: &Path) -> io::Result<bool> {
        RealDisk.create_dir(dir)
    }
    fn lock(&self, _path: &Path, _note: &[u8]) -> io::Result<Lock> {
        Err(self.0.into())
    }
    fn open(&self, path: &Path, read_only: bool) -> io::Result<Box<dyn DiskFile>> {
        RealDisk.open(path, read_only)
    }
    fn create(&self, _path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Err(self.0.into())
    }
    fn rename_new(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(self.0.into())
    }
    fn remove(&self, _path: &Path) -> io::Result<()> {
        Err(self.0.into())
    }
    fn remove_dir(&self, _dir: &Path) -> io::Result<()> {
        Err(self.0.into())
    }
    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn makes_folders_and_files_for_the_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("a/b");
    let opened = open(&session).unwrap();
    assert!(opened.created);
    let bytes = fs::read(session.join("history.json")).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(header[0]["session"], opened.session.header.session);
    assert!(header[0]["parent"].is_null() && header[0]["instructions"].is_null(), "{header}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir.path().join("a")), mode(&session)), (0o700, 0o700));
        for file in ["history.json", "history.lock"] {
            assert_eq!(mode(&session.join(file)), 0o600, "{file}");
        }
        fs::write(session.join("history.json"), [&bytes[..bytes.len() - 2], b",\n{\"torn"].concat()).unwrap();
        drop(opened);
        let damage = open(&session).unwrap().session.damage;
        let [Damage::TornTail { kept_in: Some(path), .. }] = &damage[..] else { panic!("{damage:?}") };
        assert_eq!(mode(path), 0o600);
    }
}

#[cfg(unix)]
#[test]
fn notices_that_the_file_was_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("history.json"), dir.path().join("copy"));
    let Opened { store, .. } = open(dir.path()).unwrap();
    store.append(&user(1, "one"));
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    let error = block_on(store.flush()).unwrap_err();
    assert_eq!(error.kind(), crate::session::StorageErrorKind::OtherWriter, "{error}");
}

#[test]
fn notices_a_file_that_was_made_anew_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.json");
    let Opened { store, .. } = open(dir.path()).unwrap();
    let made = || fs::metadata(&path).unwrap().created().ok();
    let Some(before) = made() else { return };
    let bytes = fs::read(&path).unwrap();
    // its number is often that of the file that was removed
    while made() == Some(before) {
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
    }
    store.append(&user(1, "one"));
    let error = block_on(store.flush()).unwrap_err();
    assert_eq!(error.kind(), crate::session::StorageErrorKind::OtherWriter, "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[cfg(target_os = "linux")]
#[test]
fn an_idle_session_has_one_file_open() {
    let dir = tempfile::tempdir().unwrap();
    let Opened { store, .. } = open(dir.path()).unwrap();
    store.append(&user(1, "one"));
    block_on(store.flush()).unwrap();
    let folder = fs::canonicalize(dir.path()).unwrap();
    let open_files =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let ours: Vec<_> = open_files.filter(|path| path.starts_with(&folder)).collect();
    assert_eq!(ours, [folder.join("history.lock")]);
    drop(store);
}

#[test]
fn refuses_a_second_opener_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let error = open_error(dir.path());
    assert_eq!(error.kind(), OpenErrorKind::InUse);
    assert!(error.to_string().contains(&format!("process {} on ", std::process::id())), "{error}");
    assert!(FileStore::read(dir.path()).is_ok(), "readers need no lock");
    drop(first);
    assert!(open(dir.path()).is_ok());
}

#[test]
fn a_killed_holder_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "session::file::tests::holds_a_session", "--ignored", "--nocapture"])
        .env("INSOMNIA_TEST_SESSION", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("open")));
    let error = open_error(dir.path());
    assert!(error.to_string().contains(&format!("process {} on ", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(open(dir.path()).is_ok());
}

#[test]
#[ignore = "the child of another test"]
fn holds_a_session() {
    let Ok(dir) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let _opened = open(Path::new(&dir)).unwrap();
    println!("\nopen");
    io::stdout().flush().unwrap();
    _ = io::stdin().read_line(&mut String::new());
}

proptest! {
    #[test]
    fn survives_any_damage(changes in prop::collection::vec((0..2_000_usize, any::<u8>()), 1..20), cut in 0..2_000_usize) {
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = SAMPLE.get_or_init(|| sample(dir.path())).clone();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(1_000)));
        let disk = SimDisk::with_file(&history(), &bytes);
        let open = || FileStore::open_on(Arc::new(disk.clone()), Path::new("s"), FileOptions::new());
        if let Ok(first) = open() {
            let recovered = disk.bytes(&history());
            prop_assert!(bytes.starts_with(recovered.strip_suffix(b"\n]\n").unwrap()));
            drop(first.store);
            let again = open().unwrap();
            prop_assert_eq!(disk.bytes(&history()), recovered);
            prop_assert_eq!(again.session.entries.len(), first.session.entries.len());
            prop_assert_eq!(again.session.next_seq, first.session.next_seq);
        } else {
            prop_assert_eq!(disk.bytes(&history()), bytes);
        }
    }
}

static SAMPLE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
