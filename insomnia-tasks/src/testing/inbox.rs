use super::{
    Backend,
    backend::{close, flush, open, read},
};
use crate::{
    Item,
    session::{Entry, EntryBody, InboxMessage, Storage},
};

/// The entry that takes a message in.
fn taking(seq: u64, message: &InboxMessage) -> Entry {
    let body = EntryBody::Item(Item::notification(message.text.clone()));
    Entry { id: message.id.clone(), ..Entry::new(seq, 1, body) }
}

#[allow(clippy::panic)] // how a rule that is broken shows
async fn texts(store: &impl Storage) -> Vec<String> {
    match store.inbox().await {
        Ok(messages) => messages.into_iter().map(|message| message.text).collect(),
        Err(error) => panic!("the inbox cannot be read: {error}"),
    }
}

pub(super) async fn a_message_stays_until_it_is_taken_in(backend: &impl Backend) {
    let (store, _) = open(backend, "told").await;
    for text in ["one", "two \u{0} \"é\"", "three"] {
        let Some(told) = backend.notify("told", text).await else { return };
        assert!(told.is_ok(), "a message cannot be left: {:?}", told.err());
    }
    let told = texts(&store).await;
    assert!(told.len() == 3 && told[0] == "one" && told[2] == "three", "not the messages, oldest first: {told:?}");
    assert_eq!(texts(&store).await, told, "a message was gone before it was taken in");
    let messages = store.inbox().await.unwrap_or_default();
    for (seq, message) in (1..).zip(&messages[..2]) {
        store.append(&taking(seq, message));
    }
    assert_eq!(texts(&store).await, told[2..], "a message whose entry is queued was handed out again");
    flush(&store).await;
    assert_eq!(texts(&store).await, told[2..], "a message that was taken in came again, or another was lost");
    assert_eq!(read(backend, "told").await.entries.len(), 2, "the entries that take messages in");
    close(&store).await;
    let other = open(backend, "not-told").await.0;
    assert!(texts(&other).await.is_empty(), "a message to another session");
    let nobody = backend.notify("never-made", "hello").await;
    assert!(nobody.is_none_or(|told| told.is_err()), "a message to a session that is not there was taken");
}

pub(super) async fn a_message_reaches_the_next_owner(backend: &impl Backend) {
    let (store, _) = open(backend, "next").await;
    if backend.notify("next", "before").await.is_none() {
        return;
    }
    // handed out, but never taken in
    assert_eq!(texts(&store).await, ["before"], "a message to an open session");
    close(&store).await;
    let told = backend.notify("next", "while nobody was there").await;
    assert!(told.is_some_and(|told| told.is_ok()), "a message to a closed session");
    let (store, session) = open(backend, "next").await;
    assert_eq!(texts(&store).await, ["before", "while nobody was there"], "what the next owner is told");
    for (seq, message) in (session.next_seq..).zip(store.inbox().await.unwrap_or_default()) {
        store.append(&taking(seq, &message));
    }
    flush(&store).await;
    drop(store);
    let (store, session) = open(backend, "next").await;
    assert!(
        texts(&store).await.is_empty() && session.entries.len() == 2,
        "a message was taken in twice, or not at all"
    );
}
