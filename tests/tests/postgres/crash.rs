//! The server is killed under load: what it acknowledged is there, once, when it is back.

use std::{collections::HashSet, sync::Arc, time::Duration};

use insomnia_tasks::session::{
    Storage,
    postgres::{PostgresOptions, PostgresSessions},
};
use tokio::sync::watch;

use crate::{server::Server, storage::entry};

const CLIENTS: u64 = 8;
const KILLS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing_that_it_acknowledged() {
    let Some(mut server) = Server::start(&[]) else { return };
    server.sessions().migrate().await.unwrap();
    let (acknowledged, mut count) = watch::channel(0_usize);
    let acknowledged = Arc::new(acknowledged);
    let (stop, stopped) = watch::channel(false);
    let writers: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let sessions = PostgresSessions::connect(&server.url()).unwrap();
            tokio::spawn(write(sessions, client, Arc::clone(&acknowledged), stopped.clone()))
        })
        .collect();
    for _ in 0..KILLS {
        let reached = *count.borrow() + 300;
        count.wait_for(|count| *count >= reached).await.unwrap();
        tokio::task::block_in_place(|| {
            server.kill();
            server.restart();
        });
    }
    stop.send(true).unwrap();
    for (client, ids) in futures_util::future::join_all(writers).await.into_iter().enumerate() {
        let ids = ids.unwrap();
        let kept = server.sessions().read_records(&format!("load-{client}")).await.unwrap();
        let kept: Vec<_> = kept.entries.into_iter().map(|entry| entry.id).collect();
        assert_eq!(kept.iter().collect::<HashSet<_>>().len(), kept.len(), "an entry is there twice");
        assert_eq!(kept, ids, "client {client}");
    }
}

/// Appends until it is told to stop; what was acknowledged, in order. Failures are met as a turn would: by trying again.
async fn write(
    sessions: PostgresSessions,
    client: u64,
    acknowledged: Arc<watch::Sender<usize>>,
    stopped: watch::Receiver<bool>,
) -> Vec<String> {
    let opened = sessions.open(&format!("load-{client}"), PostgresOptions::new()).await.unwrap();
    let mut ids = Vec::new();
    while !*stopped.borrow() {
        let entry = entry(ids.len() as u64 + 1, "x");
        ids.push(entry.id.clone());
        opened.store.append(&entry);
        while opened.store.flush().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        acknowledged.send_modify(|count| *count += 1);
    }
    ids
}
