//! Too few connections, and too little time.

use std::time::Duration;

use deadpool_postgres::{Manager, Pool, Runtime};
use insomnia_tasks::{
    Pod,
    session::{
        Header, Storage, StorageErrorKind,
        postgres::{PostgresError, PostgresOptions, PostgresSessions},
    },
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::{
    pods::client,
    server::{Server, connect, server},
    storage::{RowLock, entry},
};

fn one_connection(server: &Server, wait: Option<Duration>) -> Pool {
    let manager = Manager::new(server.url().parse().unwrap(), tokio_postgres::NoTls);
    Pool::builder(manager).max_size(1).runtime(Runtime::Tokio1).wait_timeout(wait).build().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_pods_share_one_connection() {
    let server = server!();
    let sessions = PostgresSessions::with_pool(one_connection(server, None));
    let turns = (0..12).map(|number| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            let name = format!("shared-{number}");
            let list = Reply::calls([("TaskList", json!({}))]);
            let model = ScriptedServer::start(vec![list.clone(), list, Reply::text("done")]).await.unwrap();
            let short = PostgresOptions::new().lease(Duration::from_secs(2));
            let pod = Pod::builder(&client(&model.base_url()), "gpt-5-mini")
                .session_in_postgres(&sessions, &name, short)
                .build()
                .await
                .unwrap();
            sessions.notify(&name, "hello").await.unwrap();
            pod.run("go").await.unwrap();
            pod.fork_in_postgres(&sessions, &format!("{name}-forked")).await.unwrap();
            pod.close().await.unwrap();
            assert_eq!(sessions.read(&name).await.unwrap().items().len(), 7);
        })
    });
    for turn in futures_util::future::join_all(turns).await {
        turn.unwrap();
    }
}

#[tokio::test]
async fn a_pool_that_has_none_to_give_says_so_and_the_session_goes_on() {
    let server = server!();
    let closed = one_connection(server, None);
    closed.close();
    let closed = PostgresSessions::with_pool(closed).open("pool", PostgresOptions::new()).await.unwrap_err();
    assert!(matches!(closed, PostgresError::Pool(_)) && closed.to_string().contains("closed"), "{closed}");
    for (name, wait) in [("none-waits", Some(Duration::from_millis(50))), ("none-for-ever", None)] {
        let pool = one_connection(server, wait);
        let sessions = PostgresSessions::with_pool(pool.clone()).patience(Duration::from_millis(200));
        let store = sessions.open(name, PostgresOptions::new()).await.unwrap().store;
        let held = pool.get().await.unwrap();
        let error = sessions.notify(name, "hello").await.unwrap_err();
        assert!(matches!(error, PostgresError::Pool(_)), "{error}");
        assert!(error.to_string().contains("make it larger"), "{error}");
        store.append(&entry(1, "x"));
        let error = store.flush().await.unwrap_err();
        assert!(error.kind() == StorageErrorKind::Io && error.to_string().contains("the pool gave no"), "{error}");
        drop(held);
        store.flush().await.unwrap();
        assert_eq!(sessions.read_records(name).await.unwrap().entries.len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_has_none_to_give_says_so_and_the_session_goes_on() {
    let server = server!();
    let admin = server.client().await;
    admin.batch_execute("create role lonely login connection limit 1 password 'one'").await.unwrap();
    admin.batch_execute("create database lonely owner lonely").await.unwrap();
    let url = server.url_of("lonely").replace("tester@", "lonely:one@");
    let pool = Pool::builder(Manager::new(url.parse().unwrap(), tokio_postgres::NoTls)).max_size(2).build().unwrap();
    let sessions = PostgresSessions::with_pool(pool);
    sessions.migrate().await.unwrap();
    let store = sessions.open("lonely", PostgresOptions::new()).await.unwrap().store;
    sessions.pool().retain(|_, _| false);
    // the one that was let go ends some time later
    let held = loop {
        if let Some(held) = connect(&url).await {
            break held;
        }
    };
    store.append(&entry(1, "x"));
    let error = store.flush().await.unwrap_err();
    assert!(error.to_string().contains("too many connections") && error.to_string().contains("53300"), "{error}");
    drop(held);
    while store.flush().await.is_err() {}
    assert_eq!(sessions.read_records("lonely").await.unwrap().entries.len(), 1);
}

/// SQLSTATE 57014 and 55P03.
#[tokio::test]
async fn a_statement_that_the_server_cuts_short_is_an_error_and_costs_nothing() {
    let server = server!();
    for (setting, state) in [("statement_timeout", "57014"), ("lock_timeout", "55P03")] {
        let name = format!("cut-short-{state}");
        let url = format!("{}?options=-c{setting}%3D300", server.url());
        let sessions = PostgresSessions::connect(&url).unwrap();
        let store = sessions.open(&name, PostgresOptions::new()).await.unwrap().store;
        let lock = RowLock::on(server, &name).await;
        store.append(&entry(1, "x"));
        let error = store.flush().await.unwrap_err();
        assert!(error.kind() == StorageErrorKind::Io && error.to_string().contains(state), "{error}");
        let error = sessions.open(&name, PostgresOptions::new().take_over(true)).await.unwrap_err();
        assert!(
            matches!(&error, PostgresError::Refused { source, .. } if source.sql_state() == Some(state)),
            "{error}"
        );
        lock.release().await;
        store.flush().await.unwrap();
        assert_eq!(server.sessions().read_records(&name).await.unwrap().next_seq, 2);
    }
}

/// The server ends connections that are idle within transactions as soon as it can: a whole session, which takes some
/// statements, is made or refused.
#[tokio::test]
async fn a_server_without_patience_for_idle_transactions() {
    let server = server!();
    let hasty = "options=-cidle_in_transaction_session_timeout%3D1";
    let sessions = PostgresSessions::connect(&format!("{}?{hasty}", server.url())).unwrap();
    let large = "x".repeat(3_000_000);
    let (header, entries) = (Header::new(None), (1..=6).map(|seq| entry(seq, &large)).collect::<Vec<_>>());
    match sessions.create("hasty", &header, &entries).await {
        Ok(()) => assert_eq!(server.sessions().read_records("hasty").await.unwrap().entries.len(), 6),
        Err(error) => {
            assert!(matches!(error, PostgresError::Connect(_)) && error.to_string().contains("25P03"), "{error}");
            let missing = server.sessions().read("hasty").await.unwrap_err();
            assert!(matches!(missing, PostgresError::Missing { .. }), "{missing}");
        }
    }
    let store = sessions.open("hasty-too", PostgresOptions::new()).await.unwrap().store;
    store.append(&entry(1, "x"));
    store.flush().await.unwrap();
}
