use super::{
    Backend,
    backend::{close, flush, lines, message, open, read},
};
use crate::session::{Storage, StorageErrorKind};

pub(super) async fn one_owner_at_a_time(backend: &impl Backend) {
    let (store, _) = open(backend, "owned").await;
    assert!(backend.open("owned").await.is_err(), "a second owner was let in");
    // the refusal took nothing from the first one
    store.append(&message(1, "one"));
    flush(&store).await;
    assert_eq!(read(backend, "owned").await.entries.len(), 1, "a session that is open cannot be read");
    close(&store).await;
    let second = backend.open("owned").await;
    assert!(second.is_ok(), "closing did not give the session up: {:?}", second.err());
    drop(second);
    drop(open(backend, "owned").await);
}

pub(super) async fn a_closed_session_takes_nothing_more(backend: &impl Backend) {
    let (store, _) = open(backend, "closed").await;
    store.append(&message(1, "flushed by closing"));
    close(&store).await;
    store.append(&message(2, "too late"));
    for _ in 0..2 {
        let kind = store.flush().await.err().map(|error| error.kind());
        assert_eq!(kind, Some(StorageErrorKind::Closed), "a flush after closing");
    }
    assert_eq!(read(backend, "closed").await.entries.len(), 1, "closing is a flush, and the last one");
}

pub(super) async fn sessions_do_not_mix(backend: &impl Backend) {
    let (one, first) = open(backend, "mix-1").await;
    let (two, second) = open(backend, "mix-2").await;
    assert_ne!(first.header.session, second.header.session, "two sessions have one id");
    let entries: Vec<_> = (1..=20).map(|seq| message(seq, format!("{seq}"))).collect();
    for entry in &entries {
        one.append(entry);
        two.append(&message(entry.seq, "other"));
        let (one, two) = futures_util::future::join(one.flush(), two.flush()).await;
        assert!(one.is_ok() && two.is_ok(), "two sessions at once: {one:?}, {two:?}");
    }
    assert_eq!(lines(&read(backend, "mix-1").await.entries), lines(&entries), "another session's entries");
    assert_eq!(read(backend, "mix-2").await.entries.len(), entries.len(), "another session's entries");
}
