//! A message of another process is taken in exactly once, through lost answers, dropped turns, take-overs and killed owners.

use std::{collections::HashMap, time::Duration};

use fastrand::Rng;
use insomnia_tasks::{
    Item, ItemKind,
    session::{
        Entry, EntryBody, Storage,
        postgres::{PostgresOptions, PostgresSessions, PostgresStore},
    },
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    proxy::{Cut, Proxy},
    server::server,
    two_processes::Process,
};

struct Owner {
    store: PostgresStore,
    next_seq: u64,
}

impl Owner {
    async fn new(sessions: &PostgresSessions, name: &str) -> Self {
        let opened = sessions.open(name, PostgresOptions::new().take_over(true)).await.unwrap();
        Self { store: opened.store, next_seq: opened.session.next_seq }
    }

    /// What a turn does before each request; it may fail, and be dropped.
    async fn take_in(&mut self) {
        for message in self.store.inbox().await.unwrap_or_default() {
            let body = EntryBody::Item(Item::notification(message.text));
            self.store.append(&Entry { id: message.id, ..Entry::new(self.next_seq, 1, body) });
            self.next_seq += 1;
        }
        let _ = self.store.flush().await;
    }
}

/// How often each notification is in the session.
async fn heard(sessions: &PostgresSessions, name: &str) -> HashMap<String, usize> {
    let mut heard = HashMap::new();
    for item in sessions.read(name).await.unwrap().items() {
        if item.kind() == ItemKind::Notification {
            *heard.entry(item.text().unwrap()).or_default() += 1;
        }
    }
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_befalls_the_owner() {
    let server = server!();
    server.sessions().migrate().await.unwrap();
    let runs = (0..60).map(|seed| {
        tokio::spawn(async move {
            let (mut rng, name) = (Rng::with_seed(seed), format!("heard-{seed}"));
            let mut machines = Vec::new();
            for _ in 0..2 {
                let proxy = Proxy::start(server.port).await;
                let through = PostgresSessions::connect(&server.url_at(proxy.port, "postgres")).unwrap();
                machines.push((proxy, through));
            }
            let mut owners = vec![Owner::new(&machines[0].1, &name).await];
            let mut told = Vec::new();
            for step in 0..25 {
                let (proxy, sessions) = &machines[rng.usize(..2)];
                if rng.u32(..3) == 0 {
                    let cuts = [Cut::Answer, Cut::Request, Cut::Terminate, Cut::TerminateAtWork];
                    proxy.arm_after(rng.usize(..3), cuts[rng.usize(..4)]);
                }
                match rng.u32(..10) {
                    ..4 => {
                        let text = format!("message {step}");
                        sessions.notify(&name, &text).await.unwrap();
                        told.push(text);
                    }
                    4..8 => {
                        // mostly the last one; the others are fenced
                        let back = rng.usize(..3).saturating_sub(1).min(owners.len() - 1);
                        let at = owners.len() - 1 - back;
                        let patience = if rng.bool() { Duration::from_micros(rng.u64(..9_000)) } else { Duration::MAX };
                        let _ = timeout(patience, owners[at].take_in()).await;
                    }
                    _ => owners.push(Owner::new(sessions, &name).await),
                }
            }
            for (proxy, _) in &machines {
                proxy.disarm();
            }
            let mut last = Owner::new(&server.sessions(), &name).await;
            last.take_in().await;
            assert!(last.store.inbox().await.unwrap().is_empty(), "{name}: something was left");
            let heard = heard(&server.sessions(), &name).await;
            assert!(
                told.iter().all(|text| heard.get(text) == Some(&1)) && heard.len() == told.len(),
                "{name}: {heard:?}"
            );
        })
    });
    for run in futures_util::future::join_all(runs.collect::<Vec<_>>()).await {
        run.unwrap();
    }
}

/// Processes that own the session are killed, each at another moment of its turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_processes_that_own_the_session_are_killed() {
    let server = server!();
    let sessions = server.sessions();
    let model = ScriptedServer::start(Reply::calls([("TaskList", json!({}))])).await.unwrap();
    let order = |prompt: &str| {
        json!({
            "session": "killed", "model": model.base_url(), "prompt": prompt, "inactivity": 8, "cooldown": 8,
        })
    };
    drop(sessions.open("killed", PostgresOptions::new()).await.unwrap());
    let mut told = Vec::new();
    for round in 0..8 {
        let mut process = Process::start(&server.url());
        process.begin(&order(&format!("prompt {round}")));
        // it asks for tools for ever: killed after this many requests, whatever it is doing then
        let reached = model.requests().len() + 2 + round;
        let most = told.len() + 60;
        while model.requests().len() < reached && told.len() < most {
            let text = format!("message {}", told.len());
            sessions.notify("killed", &text).await.unwrap();
            told.push(text);
        }
        model.wait_for_requests(reached).await;
        process.kill();
    }
    let mut last = Owner::new(&sessions, "killed").await;
    last.take_in().await;
    assert!(last.store.inbox().await.unwrap().is_empty(), "something was left");
    let heard = heard(&sessions, "killed").await;
    assert!(heard.values().all(|count| *count == 1), "{heard:?}");
    assert!(
        told.iter().all(|text| heard.contains_key(text)) && heard.len() == told.len(),
        "{} of {}",
        heard.len(),
        told.len()
    );
}
