//! A message of another process is taken in exactly once, through lost answers, dropped turns, take-overs and killed owners.

use std::{collections::HashMap, time::Duration};

use fastrand::Rng;
use insomnia_tasks::{
    Item, ItemKind, Pod,
    session::{
        Entry, EntryBody, Storage,
        postgres::{PostgresOptions, PostgresSessions, PostgresStore},
    },
    worker::Compaction,
};
use insomnia_tasks_examples::scripted::{Gate, Reply, ScriptedServer};
use serde_json::json;
use tokio::time::timeout;

use crate::{
    pods::client,
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

/// A message is left, the answer to that is lost, and its owner takes it in before it is left again.
#[tokio::test]
async fn when_it_is_left_again_after_it_was_taken_in() {
    let server = server!();
    let proxy = Proxy::start(server.port).await;
    let through = PostgresSessions::connect(&server.url_at(proxy.port, "postgres")).unwrap();
    let through = through.patience(Duration::from_secs(1));
    let mut owner = Owner::new(&server.sessions(), "left-again").await;
    through.notify("left-again", "first").await.unwrap();
    owner.take_in().await;
    proxy.arm(Cut::Silence);
    let take = async {
        while owner.store.inbox().await.unwrap().is_empty() {}
        owner.take_in().await;
    };
    let (told, ()) = tokio::join!(through.notify("left-again", "second"), take);
    told.unwrap();
    assert!(!proxy.disarm());
    assert!(owner.store.inbox().await.unwrap().is_empty(), "it came again");
    owner.take_in().await;
    owner.store.append(&crate::storage::entry(owner.next_seq, "on"));
    owner.store.flush().await.unwrap();
    let heard = heard(&server.sessions(), "left-again").await;
    assert!(heard.len() == 2 && heard.values().all(|count| *count == 1), "{heard:?}");
    let rows = server.client().await.query("select 1 from insomnia_inbox where session_id = 'left-again'", &[]).await;
    assert!(rows.unwrap().is_empty(), "it is still in the inbox");
}

/// Leaves many messages as one statement.
async fn flood(server: &crate::server::Server, name: &str, count: i64) {
    let flood = "insert into insomnia_inbox (session_id, item_id, body)
        select $1, 'inbox-' || n, 'message ' || n || '.' from generate_series(1, $2::bigint) n";
    server.client().await.execute(flood, &[&name, &count]).await.unwrap();
}

#[tokio::test]
async fn ten_thousand_are_taken_in_at_once_in_their_order() {
    let server = server!();
    let sessions = server.sessions();
    let mut owner = Owner::new(&sessions, "flood").await;
    flood(server, "flood", 10_000).await;
    owner.take_in().await;
    let told: Vec<_> = sessions.read("flood").await.unwrap().items().iter().filter_map(Item::text).collect();
    assert!(told.len() == 10_000 && (1..).zip(&told).all(|(n, text)| text.contains(&format!("message {n}."))));
    assert!(owner.store.inbox().await.unwrap().is_empty());
}

#[tokio::test]
async fn all_go_with_the_next_request() {
    let server = server!();
    let sessions = server.sessions();
    let model = ScriptedServer::start(Reply::text("heard")).await.unwrap();
    let pod = Pod::builder(&client(&model.base_url()), "gpt-5-mini")
        .session_in_postgres(&sessions, "next-request", PostgresOptions::new())
        .build()
        .await
        .unwrap();
    flood(server, "next-request", 1_500).await;
    pod.run("go").await.unwrap();
    let request = model.requests()[0].text();
    assert!((1..=1_500).all(|n| request.matches(&format!("message {n}.")).count() == 1), "not each of them once");
}

#[tokio::test]
async fn while_its_owner_compacts() {
    let server = server!();
    let sessions = server.sessions();
    let gate = Gate::new();
    let replies =
        vec![Reply::text("one"), Reply::text("a summary").hold(&gate), Reply::text("two"), Reply::text("three")];
    let model = ScriptedServer::start(replies).await.unwrap();
    let pod = Pod::builder(&client(&model.base_url()), "gpt-5-mini")
        .session_in_postgres(&sessions, "compacting", PostgresOptions::new())
        .build()
        .await
        .unwrap();
    pod.run("go").await.unwrap();
    let tell = async {
        gate.reached().await;
        server.sessions().notify("compacting", "psst").await.unwrap();
        gate.open();
    };
    let compaction = Compaction::default();
    let (compacted, ()) = tokio::join!(pod.compact(&compaction), tell);
    compacted.unwrap();
    pod.run("on").await.unwrap();
    assert_eq!(model.requests()[2].text().matches("psst").count(), 1);
    pod.run("on").await.unwrap();
    let heard = heard(&sessions, "compacting").await;
    assert_eq!(heard.into_iter().collect::<Vec<_>>(), [(Item::notification("psst").text().unwrap(), 1)]);
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
