//! Everything that is done to a session, with one connection lost at each of its messages in turn, in each way: it happens all
//! the same, once.

use std::time::Duration;

use insomnia_tasks::{
    ItemKind,
    session::{
        Entry, EntryBody, FileOptions, FileStore, Storage,
        postgres::{PostgresOptions, PostgresSessions, PostgresStore},
    },
};

use crate::{
    proxy::{Cut, Proxy},
    server::{Server, server},
    storage::{entry, lines},
    tail::compact,
};

/// Sessions by way of a proxy that cuts at a message.
struct Trap {
    server: &'static Server,
    through: PostgresSessions,
    proxy: Proxy,
    cut: Cut,
    passes: usize,
    /// A name that no other case has.
    name: String,
}

impl Trap {
    fn arm(&self) {
        self.proxy.arm_after(self.passes, self.cut);
    }

    fn outside(&self) -> PostgresSessions {
        self.server.sessions()
    }

    /// What is kept in the end, seen from outside.
    async fn kept(&self) -> Vec<Entry> {
        let session = self.outside().read_records(&self.name).await.unwrap();
        assert!(session.damage.is_empty(), "{}: {:?}", self.name, session.damage);
        session.entries
    }

    async fn open(&self) -> PostgresStore {
        self.through.open(&self.name, PostgresOptions::new()).await.unwrap().store
    }

    /// Makes the session with three entries, from outside.
    async fn three(&self) -> Vec<Entry> {
        let store = self.outside().open(&self.name, PostgresOptions::new()).await.unwrap().store;
        let entries = [entry(1, "a"), entry(2, "b"), entry(3, "c")];
        entries.iter().for_each(|entry| store.append(entry));
        store.close().await.unwrap();
        entries.into()
    }
}

fn same(what: &str, entries: &[Entry], wanted: &[Entry]) {
    let lines = |entries: &[Entry]| entries.iter().map(|entry| entry.to_json().unwrap()).collect::<Vec<_>>();
    assert_eq!(lines(entries), lines(wanted), "{what}");
}

/// Does this with the connection lost at the first message, the second, and so on until there is none.
async fn at_each_message(server: &'static Server, what: &str, parameters: &str, act: impl AsyncFn(&Trap)) {
    server.sessions().migrate().await.unwrap();
    for cut in Cut::ALL {
        let mut passes = 0;
        loop {
            let proxy = Proxy::start(server.port).await;
            let name = format!("{what}-{cut:?}-{passes}").to_lowercase();
            let url = format!(
                "{}{}",
                server.url_at(proxy.port, "postgres"),
                parameters.replace("NAME", &name.replace('-', "_"))
            );
            let through = PostgresSessions::connect(&url).unwrap().patience(Duration::from_millis(400));
            let trap = Trap { server, through, proxy, cut, passes, name };
            act(&trap).await;
            if trap.proxy.disarm() {
                break;
            }
            passes += 1;
            // the pieces of a large one are alike
            if passes == 12 {
                break;
            }
        }
        assert!(passes > 0, "{what}: nothing was cut");
    }
}

#[tokio::test]
async fn opening() {
    let server = server!();
    let fresh = at_each_message(server, "fresh", "", async |trap| {
        trap.arm();
        let options = PostgresOptions::new().instructions("Be brief.");
        let opened = trap.through.open(&trap.name, options).await.unwrap();
        assert_eq!((opened.session.next_seq, opened.session.entries.len()), (1, 0));
        assert_eq!(opened.session.header.instructions.as_deref(), Some("Be brief."));
        assert!(trap.outside().open(&trap.name, PostgresOptions::new()).await.is_err(), "it is nobody's");
        opened.store.append(&entry(1, "mine"));
        opened.store.flush().await.unwrap();
    });
    let again = at_each_message(server, "again", "", async |trap| {
        let entries = trap.three().await;
        trap.arm();
        let opened = trap.through.open(&trap.name, PostgresOptions::new()).await.unwrap();
        same(&trap.name, &opened.session.entries, &entries);
        assert!(!opened.created && opened.session.next_seq == 4);
        opened.store.append(&entry(4, "mine"));
        opened.store.flush().await.unwrap();
        assert_eq!(trap.kept().await.len(), 4);
    });
    let tail = at_each_message(server, "tail", "", async |trap| {
        let mut entries = trap.three().await;
        entries.extend([compact(4, 3), entry(5, "d")]);
        let store = trap.outside().open(&trap.name, PostgresOptions::new()).await.unwrap().store;
        entries[3..].iter().for_each(|entry| store.append(entry));
        store.close().await.unwrap();
        trap.arm();
        let opened = trap.through.open(&trap.name, PostgresOptions::new().tail_only(true)).await.unwrap();
        same(&trap.name, &opened.session.entries, &entries[2..]);
        assert_eq!(opened.session.next_seq, 6);
    });
    tokio::join!(fresh, again, tail);
}

#[tokio::test]
async fn appending_renewing_and_closing() {
    let server = server!();
    let append = at_each_message(server, "append", "", async |trap| {
        let store = trap.open().await;
        let entries = [entry(1, "a"), entry(2, "b"), compact(3, 2)];
        entries.iter().for_each(|entry| store.append(entry));
        trap.arm();
        store.flush().await.unwrap();
        same(&trap.name, &trap.kept().await, &entries);
    });
    let renew = at_each_message(server, "renew", "", async |trap| {
        let store = trap.open().await;
        trap.arm();
        store.renew().await.unwrap();
        store.append(&entry(1, "a"));
        store.flush().await.unwrap();
        assert_eq!(trap.kept().await.len(), 1);
    });
    let close = at_each_message(server, "close", "", async |trap| {
        let store = trap.open().await;
        store.append(&entry(1, "last"));
        trap.arm();
        store.close().await.unwrap();
        let next = trap.outside().open(&trap.name, PostgresOptions::new()).await.unwrap();
        assert_eq!(next.session.entries.len(), 1);
    });
    tokio::join!(append, renew, close);
}

#[tokio::test]
async fn telling_and_taking_in() {
    let server = server!();
    let tell = at_each_message(server, "tell", "", async |trap| {
        trap.three().await;
        trap.arm();
        trap.through.notify(&trap.name, "psst").await.unwrap();
        let store = trap.outside().open(&trap.name, PostgresOptions::new()).await.unwrap().store;
        let texts: Vec<_> = store.inbox().await.unwrap().into_iter().map(|message| message.text).collect();
        assert_eq!(texts, ["psst"], "{}", trap.name);
    });
    let take = at_each_message(server, "take", "", async |trap| {
        let store = trap.open().await;
        trap.outside().notify(&trap.name, "psst").await.unwrap();
        trap.arm();
        for message in store.inbox().await.unwrap() {
            let item = insomnia_tasks::Item::notification(message.text);
            store.append(&Entry { id: message.id, ..Entry::new(1, 1, EntryBody::Item(item)) });
        }
        store.flush().await.unwrap();
        let kept = trap.kept().await;
        let told =
            |entry: &Entry| matches!(&entry.body, EntryBody::Item(item) if item.kind() == ItemKind::Notification);
        assert!(kept.len() == 1 && kept.iter().all(told), "{}", trap.name);
        assert!(store.inbox().await.unwrap().is_empty(), "{}: it is still there", trap.name);
    });
    let list = at_each_message(server, "list", "", async |trap| {
        trap.three().await;
        trap.arm();
        let listed = trap.through.list("list", 1000).await.unwrap();
        assert!(listed.iter().any(|info| info.name == trap.name && info.entries == 3), "{}", trap.name);
        assert_eq!(trap.through.read_records(&trap.name).await.unwrap().entries.len(), 3);
    });
    tokio::join!(tell, take, list);
}

#[tokio::test]
async fn copying_and_forking() {
    let server = server!();
    let folders = tempfile::tempdir().unwrap();
    let here = folders.path().join("here");
    let opened = FileStore::open(&here, FileOptions::new()).unwrap();
    // more than one statement carries
    (1..=20).for_each(|seq| opened.store.append(&entry(seq, &"x".repeat(if seq < 6 { 850_000 } else { 10 }))));
    opened.store.close().await.unwrap();
    let records = FileStore::read(&here).unwrap();
    let copy_in = at_each_message(server, "copy-in", "", async |trap| {
        trap.arm();
        trap.through.copy_from_folder(&here, &trap.name).await.unwrap();
        assert_eq!(lines(&trap.outside().read_records(&trap.name).await.unwrap()), lines(&records), "{}", trap.name);
    });
    let copy_out = at_each_message(server, "copy-out", "", async |trap| {
        let entries = trap.three().await;
        trap.arm();
        let there = folders.path().join(&trap.name);
        trap.through.copy_to_folder(&trap.name, &there).await.unwrap();
        same(&trap.name, &FileStore::read(&there).unwrap().entries, &entries);
    });
    let fork = at_each_message(server, "fork", "", async |trap| {
        let entries = trap.three().await;
        let name = format!("{}-forked", trap.name);
        let header = trap.outside().read_records(&trap.name).await.unwrap().header;
        trap.arm();
        trap.through.create(&name, &header, &entries).await.unwrap();
        same(&trap.name, &trap.outside().read_records(&name).await.unwrap().entries, &entries);
    });
    tokio::join!(copy_in, copy_out, fork);
}

#[tokio::test]
async fn making_the_tables() {
    let server = server!();
    at_each_message(server, "tables", "?options=-csearch_path%3DNAME", async |trap| {
        let schema = trap.name.replace('-', "_");
        server.client().await.batch_execute(&format!("create schema {schema}")).await.unwrap();
        trap.arm();
        let store = trap.open().await;
        store.append(&entry(1, "first"));
        store.flush().await.unwrap();
        let rows =
            format!("select version, (select count(*) from {schema}.insomnia_items) from {schema}.insomnia_schema");
        let row = server.client().await.query_one(&rows, &[]).await.unwrap();
        assert_eq!((row.get::<_, i32>(0), row.get::<_, i64>(1)), (3, 2), "{schema}");
        server.client().await.batch_execute(&format!("drop schema {schema} cascade")).await.unwrap();
    })
    .await;
}
