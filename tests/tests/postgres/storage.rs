//! The tables, opening, taking over, cut connections.

use std::time::Duration;

use deadpool_postgres::{Manager, Pool};
use insomnia_tasks::{
    Item,
    session::{
        Entry, EntryBody, Storage, StorageErrorKind, StoredSession,
        postgres::{PostgresError, PostgresOptions, PostgresSessions, PostgresStore},
    },
};

use crate::{
    proxy::{Cut, Proxy},
    server::server,
};

pub(crate) fn entry(seq: u64, text: &str) -> Entry {
    Entry::new(seq, 1, EntryBody::Item(Item::user_message(text)))
}

pub(crate) fn lines(session: &StoredSession) -> Vec<String> {
    session.entries.iter().map(|entry| entry.to_json().unwrap()).collect()
}

fn taking() -> PostgresOptions {
    PostgresOptions::new().take_over(true)
}

async fn put(store: &PostgresStore, seq: u64, text: &str) -> Result<(), insomnia_tasks::session::StorageError> {
    store.append(&entry(seq, text));
    store.flush().await
}

#[tokio::test]
async fn one_owner_at_a_time_and_a_fenced_one_appends_nothing() {
    let sessions = server!().sessions();
    let first = sessions.open("owners", PostgresOptions::new().owner("ann")).await.unwrap();
    assert!(first.created);
    put(&first.store, 1, "of ann").await.unwrap();

    let refused = sessions.open("owners", PostgresOptions::new().owner("bob")).await.unwrap_err();
    assert!(matches!(&refused, PostgresError::InUse { owner, left_ms: 1.., .. } if owner == "ann"), "{refused}");

    let second = sessions.open("owners", taking().owner("bob")).await.unwrap();
    assert!(!second.created);
    assert_eq!(second.session.next_seq, 2);
    for _ in 0..2 {
        let fenced = put(&first.store, 2, "stale").await.unwrap_err();
        assert_eq!(fenced.kind(), StorageErrorKind::Fenced);
        assert!(fenced.to_string().contains("taken over by bob"), "{fenced}");
    }
    assert_eq!(first.store.renew().await.unwrap_err().kind(), StorageErrorKind::Fenced);
    drop(first); // gives up what it no longer has
    put(&second.store, 2, "of bob").await.unwrap();

    second.store.close().await.unwrap();
    let third = sessions.open("owners", PostgresOptions::new()).await.unwrap();
    assert_eq!(third.session.entries.len(), 2);
    assert_eq!(lines(&third.session), lines(&sessions.read_records("owners").await.unwrap()));
}

#[tokio::test]
async fn a_lease_that_ended_lets_others_in_and_one_that_is_renewed_does_not() {
    let sessions = server!().sessions();
    let short = || PostgresOptions::new().lease(Duration::from_millis(300));
    let held = sessions.open("lease", short()).await.unwrap();
    let started = std::time::Instant::now();
    while started.elapsed() < Duration::from_millis(700) {
        held.store.renew().await.unwrap();
        assert!(matches!(sessions.open("lease", short()).await, Err(PostgresError::InUse { .. })));
    }
    let next = loop {
        match sessions.open("lease", short()).await {
            Ok(next) => break next,
            Err(error) => assert!(matches!(error, PostgresError::InUse { .. }), "{error}"),
        }
    };
    assert_eq!(put(&held.store, 1, "late").await.unwrap_err().kind(), StorageErrorKind::Fenced);
    put(&next.store, 1, "in time").await.unwrap();
}

#[tokio::test]
async fn an_owner_whose_lease_ended_goes_on_if_nobody_came() {
    let server = server!();
    let sessions = server.sessions();
    let held = sessions.open("slept", PostgresOptions::new()).await.unwrap();
    end_lease(&server.client().await, "slept").await;
    put(&held.store, 1, "awake").await.unwrap();
    assert!(matches!(sessions.open("slept", PostgresOptions::new()).await, Err(PostgresError::InUse { .. })));
}

/// What the passing of time does.
pub(crate) async fn end_lease(client: &tokio_postgres::Client, session: &str) {
    let ended = "update insomnia_sessions set lease_until = now() - interval '1 second' where session_id = $1";
    client.execute(ended, &[&session]).await.unwrap();
}

#[tokio::test]
async fn a_connection_cut_between_commit_and_answer_doubles_nothing() {
    let server = server!();
    let proxy = Proxy::start(server.port).await;
    let through = PostgresSessions::connect(&server.url_at(proxy.port, "postgres")).unwrap();
    let opened = through.patience(Duration::from_millis(500)).open("cut", PostgresOptions::new()).await.unwrap();
    for (seq, cut) in (1..).zip([Cut::Answer, Cut::Request, Cut::Silence]) {
        proxy.arm(cut);
        put(&opened.store, seq, "once").await.unwrap();
        assert!(!proxy.disarm(), "{cut:?} did not happen");
        assert_eq!(server.sessions().read_records("cut").await.unwrap().entries.len() as u64, seq);
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_counts_even_for_a_fenced_owner() {
    let server = server!();
    let proxy = Proxy::start(server.port).await;
    let through = PostgresSessions::connect(&server.url_at(proxy.port, "postgres")).unwrap();
    let first = through.patience(Duration::from_secs(2)).open("late", PostgresOptions::new()).await.unwrap();
    proxy.arm(Cut::Silence);
    let taken = async {
        while server.sessions().read_records("late").await.unwrap().entries.is_empty() {}
        server.sessions().open("late", taking()).await.unwrap()
    };
    let (outcome, second) = tokio::join!(put(&first.store, 1, "kept"), taken);
    assert_eq!(outcome.unwrap_err().kind(), StorageErrorKind::Fenced);
    assert_eq!(second.session.entries.len(), 1);
    assert!(format!("{:?}", first.store).contains("queued: 0"), "{:?}", first.store);
}

/// A turn that is dropped drops its flush: here when a part of the batch is known to be kept and the rest is under way. What
/// becomes of the rest, in the server alone or not at all, the next flush finds out.
#[tokio::test]
async fn a_flush_dropped_behind_a_part_that_is_kept_goes_on_behind_that_part() {
    let server = server!();
    let client = server.client().await;
    for (name, rest_is_lost) in [("part-kept", false), ("part-lost", true)] {
        let sessions = PostgresSessions::connect(&format!("{}?application_name={name}", server.url())).unwrap();
        let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
        let drop_when_it_waits = async || {
            tokio::select! {
                biased;
                () = waits_for_a_lock(&client, name) => {}
                outcome = store.flush() => panic!("nothing held the flush up: {outcome:?}"),
            }
        };
        let lock = RowLock::on(server, name).await;
        store.append(&entry(1, "first"));
        drop_when_it_waits().await;
        lock.release().await;
        // nobody waits for it, and it is carried out
        while server.sessions().read_records(name).await.unwrap().entries.is_empty() {}

        let lock = RowLock::on(server, name).await;
        store.append(&entry(2, "second"));
        drop_when_it_waits().await;
        if rest_is_lost {
            client.execute(&format!("select pg_terminate_backend(pid) {WAITING}"), &[&name]).await.unwrap();
        }
        lock.release().await;
        store.flush().await.unwrap();
        let there = sessions.read_records(name).await.unwrap().entries;
        assert_eq!(there.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2], "{name}");
    }
}

/// The server refuses an append for a key that is there already (SQLSTATE 23505). What stands in the tables then decides: the
/// append was carried out after all, another owner came, or the row is nobody's and stays an error.
#[tokio::test]
async fn a_key_that_is_there_already_is_looked_into() {
    let server = server!();
    let client = server.client().await;
    for (name, answer) in [("clash-ours", None), ("clash-taken", Some("Fenced")), ("clash-stray", Some("OtherWriter"))]
    {
        // one connection, so that what follows the refused append waits until the test has done its part
        let config = format!("{}?application_name={name}", server.url()).parse().unwrap();
        let pool = Pool::builder(Manager::new(config, tokio_postgres::NoTls)).max_size(1).build().unwrap();
        let store = PostgresSessions::with_pool(pool.clone()).open(name, PostgresOptions::new()).await.unwrap().store;
        let stray = entry(1, "x");
        store.append(&stray);
        let mut other = server.client().await;
        let transaction = other.transaction().await.unwrap();
        let put = "insert into insomnia_items (session_id, seq, epoch, item_id, kind, body) values ($1, 1, 1, $2, 'user', $3)";
        transaction.execute(put, &[&name, &stray.id, &stray.to_json().unwrap()]).await.unwrap();
        let meanwhile = async {
            waits_for_a_lock(&client, name).await;
            let held = tokio::join!(pool.get(), transaction.commit()).0.unwrap();
            match name {
                "clash-ours" => {
                    let moved = "update insomnia_sessions set head_seq = 1 where session_id = $1";
                    client.execute(moved, &[&name]).await.unwrap();
                }
                "clash-taken" => drop(server.sessions().open(name, taking()).await.unwrap()),
                _ => {}
            }
            drop(held);
        };
        let (outcome, ()) = tokio::join!(store.flush(), meanwhile);
        let kind = outcome.as_ref().err().map(|error| format!("{:?}", error.kind()));
        assert_eq!(kind.as_deref(), answer, "{name}: {outcome:?}");
        let queued = usize::from(name != "clash-ours");
        assert!(format!("{store:?}").contains(&format!("queued: {queued}")), "{name}: {store:?}");
        if name == "clash-stray" {
            let again = store.flush().await.unwrap_err();
            assert!(again.to_string().contains("23505"), "{again}");
            // without the stray row all is well
            client.execute("delete from insomnia_items where session_id = $1 and seq = 1", &[&name]).await.unwrap();
            store.flush().await.unwrap();
        }
        let there = server.sessions().read_records(name).await.unwrap().entries;
        assert_eq!(there.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&stray.id], "{name}");
    }
}

const WAITING: &str = "from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'";

/// Until a statement of the connections of this name waits for a lock.
async fn waits_for_a_lock(client: &tokio_postgres::Client, name: &str) {
    while client.query(&format!("select 1 {WAITING}"), &[&name]).await.unwrap().is_empty() {}
}

/// Holds a session's row, so that appends to it wait.
pub(crate) struct RowLock(tokio_postgres::Client);

impl RowLock {
    pub(crate) async fn on(server: &crate::server::Server, session: &str) -> Self {
        let client = server.client().await;
        client.batch_execute("begin").await.unwrap();
        let lock = "select 1 from insomnia_sessions where session_id = $1 for update";
        client.query_one(lock, &[&session]).await.unwrap();
        Self(client)
    }

    pub(crate) async fn release(self) {
        self.0.batch_execute("rollback").await.unwrap();
    }
}

#[tokio::test]
async fn the_tables_are_made_by_many_at_once() {
    let server = server!();
    let database = server.database("many", "").await;
    let opening = (0..16).map(|number| {
        let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
        tokio::spawn(async move { sessions.open(&format!("s{number}"), PostgresOptions::new()).await.map(|_| ()) })
    });
    for opened in futures_util::future::join_all(opening).await {
        opened.unwrap().unwrap();
    }
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let names = |infos: Vec<insomnia_tasks::session::postgres::SessionInfo>| -> Vec<String> {
        infos.into_iter().map(|info| info.name).collect()
    };
    assert_eq!(names(sessions.list("", 3).await.unwrap()), ["s0", "s1", "s10"]);
    assert_eq!(names(sessions.list("s8", 3).await.unwrap()), ["s9"]);
}

#[tokio::test]
async fn the_printed_schema_is_the_one_that_is_made() {
    let server = server!();
    let dump = async |database: &str| -> Vec<String> {
        let client = crate::server::connect(&server.url_of(database)).await.unwrap();
        let columns =
            "select table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(collation_name, '')
            from information_schema.columns where table_schema = 'public'
            union all select indexdef from pg_indexes where schemaname = 'public' order by 1";
        client.query(columns, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    };
    let made = server.database("made", "").await;
    PostgresSessions::connect(&server.url_of(&made)).unwrap().migrate().await.unwrap();
    let printed = server.database("printed", "").await;
    let client = crate::server::connect(&server.url_of(&printed)).await.unwrap();
    client.batch_execute(&PostgresStore::schema_sql()).await.unwrap();
    assert_eq!(dump(&made).await, dump(&printed).await);
    assert!(dump(&made).await.len() > 50);

    // made by hand, they are found and left alone, even by one who may not make tables
    let sessions = PostgresSessions::connect(&server.url_of(&printed)).unwrap();
    sessions.open("first", PostgresOptions::new()).await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_and_a_newer_format_are_refused() {
    let server = server!();
    let database = server.database("newer", "").await;
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let opened = sessions.open("new", PostgresOptions::new()).await.unwrap();
    opened.store.close().await.unwrap();
    let at_work = sessions.open("at work", PostgresOptions::new()).await.unwrap();
    let client = crate::server::connect(&server.url_of(&database)).await.unwrap();
    client.batch_execute("update insomnia_sessions set fmt = 99").await.unwrap();
    let error = sessions.open("new", PostgresOptions::new()).await.unwrap_err();
    assert!(matches!(error, PostgresError::NewerFormat { found: 99, .. }), "{error}");
    client.batch_execute("update insomnia_schema set version = 99").await.unwrap();
    let error = PostgresSessions::connect(&server.url_of(&database)).unwrap().migrate().await.unwrap_err();
    assert!(matches!(error, PostgresError::NewerSchema { found: 99, .. }), "{error}");
    let told = PostgresSessions::connect(&server.url_of(&database)).unwrap().notify("new", "hello").await.unwrap_err();
    assert!(told.to_string().contains("update the crate"), "{told}");
    // who is at work meanwhile ends its turn
    put(&at_work.store, 1, "x").await.unwrap();
}

/// Plans are kept: one that looks at all rows, as is cheapest in a small table, would be kept when the table has grown.
#[tokio::test]
async fn appends_look_at_no_rows_but_their_own_in_small_tables_too() {
    let server = server!();
    let database = server.database("planned", "").await;
    let config = server.url_of(&database).parse().unwrap();
    let pool = Pool::builder(Manager::new(config, tokio_postgres::NoTls)).max_size(1).build().unwrap();
    let sessions = PostgresSessions::with_pool(pool.clone());
    for name in ["a", "b", "c"] {
        sessions.open(name, PostgresOptions::new()).await.unwrap().store.close().await.unwrap();
    }
    let client = crate::server::connect(&server.url_of(&database)).await.unwrap();
    client.batch_execute("vacuum analyze").await.unwrap();
    let store = sessions.open("b", PostgresOptions::new()).await.unwrap().store;
    let scans = async || {
        pool.get().await.unwrap().query("select pg_stat_force_next_flush()", &[]).await.unwrap();
        // the flush comes with the end of that statement
        pool.get().await.unwrap().query("select 1", &[]).await.unwrap();
        let scans = "select seq_scan, idx_scan from pg_stat_user_tables where relname = 'insomnia_sessions'";
        let row = client.query_one(scans, &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1))
    };
    let before = scans().await;
    for seq in (1..=30).step_by(3) {
        put(&store, seq, "alone").await.unwrap();
        store.append(&entry(seq + 1, "one of two"));
        put(&store, seq + 2, "two").await.unwrap();
    }
    let after = scans().await;
    assert_eq!((after.0 - before.0, after.1 - before.1), (0, 20));
}
