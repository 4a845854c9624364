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

pub(super) async fn an_owner_that_lost_its_session_writes_nothing(backend: &impl Backend) {
    let (first, _) = open(backend, "lost").await;
    first.append(&message(1, "kept"));
    flush(&first).await;
    first.append(&message(2, "queued when it was lost"));
    let Some(taken) = backend.take_over("lost").await else { return };
    assert!(taken.is_ok(), "a session cannot be taken over: {:?}", taken.err());
    let Ok((second, session)) = taken else { return };
    assert_eq!(session.entries.len(), 1, "not what was flushed, after a take-over");
    for _ in 0..2 {
        let kind = first.flush().await.err().map(|error| error.kind());
        assert_eq!(kind, Some(StorageErrorKind::Fenced), "a flush of an owner that lost its session");
    }
    let kind = first.renew().await.err().map(|error| error.kind());
    assert_eq!(kind, Some(StorageErrorKind::Fenced), "a sign of life of an owner that lost its session");
    let entries = [message(2, "of the second"), message(3, "of the second")];
    second.append(&entries[0]);
    flush(&second).await;
    drop(first); // takes nothing from the second
    second.append(&entries[1]);
    flush(&second).await;
    let kept = read(backend, "lost").await.entries;
    assert_eq!(lines(&kept[1..]), lines(&entries), "an owner that lost its session wrote");
    assert!(backend.open("lost").await.is_err(), "a second owner was let in after a take-over");
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
