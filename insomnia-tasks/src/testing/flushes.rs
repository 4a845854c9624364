use futures_util::{FutureExt, future::join};

use super::{
    Backend,
    backend::{close, flush, lines, message, open, read},
};
use crate::session::Storage;

pub(super) async fn a_new_session_is_empty(backend: &impl Backend) {
    let (store, session) = open(backend, "new").await;
    assert!(session.entries.is_empty() && session.next_seq == 1, "a new session holds something");
    flush(&store).await;
    close(&store).await;
    let again = open(backend, "new").await.1;
    assert_eq!(again.header, session.header, "the header changed");
    assert!(again.entries.is_empty() && again.next_seq == 1, "a flush of nothing kept something");
}

pub(super) async fn what_was_flushed_is_there_and_what_was_not_is_not(backend: &impl Backend) {
    let (store, _) = open(backend, "flushed").await;
    let entries = [message(1, "one"), message(2, "two"), message(3, "never flushed")];
    for entry in &entries[..2] {
        store.append(entry);
    }
    flush(&store).await;
    store.append(&entries[2]);
    assert_eq!(lines(&read(backend, "flushed").await.entries), lines(&entries[..2]), "not what was flushed");
    drop(store);
    let (_store, session) = open(backend, "flushed").await;
    // dropping may be a flush, and need not be one
    let there = lines(&session.entries);
    assert!(there.len() >= 2 && lines(&entries).starts_with(&there), "not what was flushed, after dropping");
}

pub(super) async fn an_entry_given_twice_is_kept_once(backend: &impl Backend) {
    let (store, _) = open(backend, "twice").await;
    let entries = [message(1, "one"), message(2, "two")];
    for entry in [&entries[0], &entries[0], &entries[1]] {
        store.append(entry);
    }
    flush(&store).await;
    store.append(&entries[1]);
    flush(&store).await;
    flush(&store).await;
    assert_eq!(lines(&read(backend, "twice").await.entries), lines(&entries), "an entry was kept twice, or not at all");
}

pub(super) async fn a_dropped_flush_loses_and_doubles_nothing(backend: &impl Backend) {
    let (store, _) = open(backend, "dropped").await;
    let mut entries = Vec::new();
    for polls in 0..12 {
        entries.push(message(entries.len() as u64 + 1, "x"));
        entries.last().into_iter().for_each(|entry| store.append(entry));
        let mut flush = store.flush();
        for _ in 0..polls {
            if (&mut flush).now_or_never().is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_micros(300)).await;
        }
        drop(flush);
        entries.push(message(entries.len() as u64 + 1, "y"));
        entries.last().into_iter().for_each(|entry| store.append(entry));
    }
    flush(&store).await;
    assert_eq!(lines(&read(backend, "dropped").await.entries), lines(&entries), "after flushes that were dropped");
}

pub(super) async fn appends_during_a_flush_are_kept_by_the_next(backend: &impl Backend) {
    let (store, _) = open(backend, "during").await;
    let entries: Vec<_> = (1..=40).map(|seq| message(seq, "x")).collect();
    for pair in entries.chunks(2) {
        store.append(&pair[0]);
        let late = async { pair[1..].iter().for_each(|entry| store.append(entry)) };
        let both = join(store.flush(), late).await;
        assert!(both.0.is_ok(), "a flush failed: {:?}", both.0);
        let there = read(backend, "during").await.entries.len() as u64;
        assert!(there >= pair[0].seq, "`Ok` before the entry was kept");
    }
    let flushes = join(store.flush(), store.flush()).await;
    assert!(flushes.0.is_ok() && flushes.1.is_ok(), "two flushes at once: {flushes:?}");
    assert_eq!(lines(&read(backend, "during").await.entries), lines(&entries), "not what was given, in order");
}
