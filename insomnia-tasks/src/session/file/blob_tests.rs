use std::{fs, path::PathBuf};

use super::{
    Damage, FileOptions, FileStore, Opened,
    blobs::BLOB_FROM,
    tests::{block_on, messages, user},
};
use crate::session::{EntryBody, Storage};

/// A session with a small message, a large one and the large one again.
fn session(dir: &std::path::Path) -> (String, PathBuf) {
    let big = "x".repeat(BLOB_FROM);
    let Opened { store, .. } = FileStore::open(dir, FileOptions::new()).unwrap();
    for (seq, text) in [(1, "small"), (2, &big), (3, &big)] {
        store.append(&user(seq, text));
    }
    block_on(store.close()).unwrap();
    let blobs: Vec<_> = fs::read_dir(dir.join("blobs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [blob] = blobs.as_slice() else { panic!("{blobs:?}") };
    (big, blob.clone())
}

#[test]
fn large_messages_stand_beside_the_history_once() {
    let dir = tempfile::tempdir().unwrap();
    let (big, blob) = session(dir.path());
    let history = fs::read(dir.path().join("history.json")).unwrap();
    assert!(history.len() < 1_000);
    let asked = [user(1, "small"), user(2, &big), user(3, &big)];
    assert_eq!(messages(&FileStore::read(dir.path()).unwrap().entries), messages(&asked));
    assert_eq!(fs::read_to_string(&blob).unwrap(), messages(&asked)[1]);
    let name = blob.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(String::from_utf8(history).unwrap().contains(&format!(",\"blob\":\"{name}\"")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir.path().join("blobs")), mode(&blob)), (0o700, 0o600));
    }
}

#[test]
fn a_damaged_or_missing_one_costs_its_message_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (_, blob) = session(dir.path());
    let bytes = fs::read(&blob).unwrap();
    for damage in [None, Some(bytes[1..].to_vec()), Some([&bytes[..9], b"y", &bytes[10..]].concat())] {
        fs::remove_file(&blob).unwrap();
        if let Some(damaged) = &damage {
            fs::write(&blob, damaged).unwrap();
        } else {
            assert!(!blob.exists());
        }
        let session = FileStore::read(dir.path()).unwrap();
        assert_eq!(session.entries.len(), 3);
        assert!(matches!(session.entries[1].body, EntryBody::Unknown(_)));
        let [Damage::Blob { seq: 2, path, .. }, Damage::Blob { seq: 3, .. }] = &session.damage[..] else {
            panic!("{:?}", session.damage)
        };
        assert_eq!(path, &blob);
        fs::write(&blob, &bytes).unwrap();
    }
    assert!(FileStore::read(dir.path()).unwrap().damage.is_empty());
}

#[test]
fn a_name_leads_to_no_other_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (_, blob) = session(dir.path());
    let name = blob.file_name().unwrap().to_str().unwrap();
    let path = dir.path().join("history.json");
    let text = fs::read_to_string(&path).unwrap().replace(name, "../history.json");
    fs::write(&path, text).unwrap();
    let damage = FileStore::read(dir.path()).unwrap().damage;
    assert!(damage[0].to_string().contains("no SHA-256"), "{damage:?}");
}
