//! Futures that are dropped at each of their awaits, as those of a request that was given up: what they had begun is done once or
//! not at all, and nothing is held up by it.

use std::{
    future::poll_fn,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use deadpool_postgres::{Manager, Pool};
use insomnia_tasks::{
    Item,
    session::{
        Entry, EntryBody, Header, Storage,
        postgres::{OpenedPostgres, PostgresError, PostgresOptions, PostgresSessions},
    },
};

use crate::{
    server::{Server, server},
    storage::{entry, lines},
};

/// What a future comes to, if it does within so many polls; else it is dropped.
async fn polled<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// With as many connections as it likes, and with one.
fn pools(server: &Server, name: &str) -> [PostgresSessions; 2] {
    let url = format!("{}?application_name={name}", server.url());
    let one = Pool::builder(Manager::new(url.parse().unwrap(), tokio_postgres::NoTls)).max_size(1).build().unwrap();
    [PostgresSessions::connect(&url).unwrap(), PostgresSessions::with_pool(one)]
}

/// Opens it as soon as nobody has it; that must be long before a lease ends.
async fn opened_soon(sessions: &PostgresSessions, name: &str) -> OpenedPostgres {
    let begun = Instant::now();
    loop {
        match sessions.open(name, PostgresOptions::new().owner("next")).await {
            Ok(opened) => return opened,
            Err(PostgresError::InUse { .. }) if begun.elapsed() < Duration::from_secs(10) => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// Does this with ever more polls until it comes to its end.
async fn at_each_await(what: &str, act: impl AsyncFn(usize, &str) -> bool) {
    for polls in 1.. {
        if act(polls, &format!("dropped-{what}-{polls}")).await {
            assert!(polls > 1, "{what}: it never waits");
            return;
        }
    }
}

#[tokio::test]
async fn opening() {
    let server = server!();
    for (number, sessions) in pools(server, "dropped-opening").into_iter().enumerate() {
        at_each_await(&format!("new-{number}"), async |polls, name| {
            let done = polled(sessions.open(name, PostgresOptions::new()), polls).await.is_some();
            let next = opened_soon(&server.sessions(), name).await;
            assert_eq!(next.session.next_seq, 1);
            next.store.append(&entry(1, "x"));
            next.store.flush().await.unwrap();
            done
        })
        .await;
        at_each_await(&format!("again-{number}"), async |polls, name| {
            let store = server.sessions().open(name, PostgresOptions::new()).await.unwrap().store;
            store.append(&entry(1, "x"));
            store.close().await.unwrap();
            let done = polled(sessions.open(name, PostgresOptions::new()), polls).await.is_some();
            let next = opened_soon(&server.sessions(), name).await;
            next.store.append(&entry(2, "y"));
            next.store.flush().await.unwrap();
            assert_eq!(next.session.next_seq, 2);
            done
        })
        .await;
    }
}

#[tokio::test]
async fn appending_renewing_and_closing() {
    let server = server!();
    for (number, sessions) in pools(server, "dropped-appending").into_iter().enumerate() {
        at_each_await(&format!("append-{number}"), async |polls, name| {
            let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
            let mut asked = Vec::new();
            let mut done = true;
            for seq in 1..=4 {
                let entry = entry(seq, "x");
                asked.push(entry.to_json().unwrap());
                store.append(&entry);
                done &= polled(store.flush(), polls).await.is_some();
                done &= polled(store.renew(), polls).await.is_some();
            }
            store.flush().await.unwrap();
            assert_eq!(lines(&server.sessions().read_records(name).await.unwrap()), asked, "{name}");
            done
        })
        .await;
        at_each_await(&format!("close-{number}"), async |polls, name| {
            let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
            store.append(&entry(1, "x"));
            let done = polled(store.close(), polls).await.is_some();
            drop(store);
            assert_eq!(opened_soon(&server.sessions(), name).await.session.entries.len(), 1, "{name}");
            done
        })
        .await;
    }
}

#[tokio::test]
async fn telling_and_listening() {
    let server = server!();
    for (number, sessions) in pools(server, "dropped-telling").into_iter().enumerate() {
        at_each_await(&format!("tell-{number}"), async |polls, name| {
            let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
            let told = polled(sessions.notify(name, "psst"), polls).await.is_some();
            let mut done = told;
            let mut seq = 1;
            for _ in 0..3 {
                done &= polled(store.inbox(), polls).await.is_some();
                for message in store.inbox().await.unwrap() {
                    let item = Item::notification(message.text);
                    store.append(&Entry { id: message.id, ..Entry::new(seq, 1, EntryBody::Item(item)) });
                    seq += 1;
                }
                done &= polled(store.flush(), polls).await.is_some();
            }
            store.close().await.unwrap();
            let heard = sessions.read_records(name).await.unwrap().entries.len();
            assert!(heard == 1 || heard == 0 && !told, "{name}: {heard}");
            done
        })
        .await;
    }
}

#[tokio::test]
async fn making_tables_and_whole_sessions() {
    let server = server!();
    let header = Header::new(None);
    // more than one statement carries
    let entries: Vec<Entry> = (1..=3).map(|seq| entry(seq, &"x".repeat(2_200_000))).collect();
    for (number, sessions) in pools(server, "dropped-making").into_iter().enumerate() {
        at_each_await(&format!("create-{number}"), async |polls, name| {
            let made = polled(sessions.create(name, &header, &entries), polls).await;
            if let Some(made) = &made {
                made.as_ref().unwrap();
            }
            match sessions.create(name, &header, &entries).await {
                Ok(()) => assert!(made.is_none()),
                Err(error) => assert!(matches!(error, PostgresError::Exists { .. }), "{error}"),
            }
            assert_eq!(server.sessions().read_records(name).await.unwrap().entries.len(), 3, "{name}");
            made.is_some()
        })
        .await;
    }
    at_each_await("tables", async |polls, name| {
        let schema = name.replace('-', "_");
        let client = server.client().await;
        client.batch_execute(&format!("create schema {schema}")).await.unwrap();
        let parameters = format!("?application_name=dropped-tables&options=-csearch_path%3D{schema}");
        let sessions = PostgresSessions::connect(&format!("{}{parameters}", server.url())).unwrap();
        let made = polled(sessions.migrate(), polls).await.is_some();
        let store = sessions.open("first", PostgresOptions::new()).await.unwrap().store;
        store.append(&entry(1, "x"));
        store.flush().await.unwrap();
        made
    })
    .await;
    // nothing that was dropped keeps a transaction open
    let idle = "select 1 from pg_stat_activity where application_name like 'dropped-%' and state like 'idle in%'";
    let begun = Instant::now();
    while !server.client().await.query(idle, &[]).await.unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(10), "a transaction is left open");
    }
}
