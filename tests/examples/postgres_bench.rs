//! What an append to a session in Postgres costs, beside an empty durable commit on the same server in the same run.
//!
//! `tests/postgres/bench.sh [SESSIONS]` runs it and writes `docs/postgres-bench.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a bench, where these are the failure

#[allow(dead_code)] // shared with the tests, which use all of it
#[allow(unused_macros, unused_imports)] // the same
#[path = "../tests/postgres/server.rs"]
mod server;

use std::{
    io::{Seek, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use insomnia_tasks::{
    Item,
    session::{
        Entry, EntryBody, Storage,
        postgres::{PostgresOptions, PostgresSessions, PostgresStore},
    },
};
use server::Server;
use tokio_postgres::types::Type;

/// How long each is measured, and how often by turns: a disk is not equally fast all the time.
const SPAN: Duration = Duration::from_millis(200);
const ROUNDS: usize = 30;

/// The sessions that each client has open.
const OPEN: usize = 4;

#[tokio::main]
async fn main() {
    let sessions: i64 = std::env::args().nth(1).map_or(1_000, |count| count.parse().unwrap());
    let server = Server::start(&["max_connections=200"]).expect("PostgreSQL is needed: tests/postgres/setup.sh");
    let client = server.client().await;
    let version: String = client.query_one("show server_version", &[]).await.unwrap().get(0);
    server.sessions().migrate().await.unwrap();
    fill(&client, sessions).await;

    println!("PostgreSQL {version} and the clients on one machine with {} cores, `fsync` and", cores());
    println!("`synchronous_commit` on, bodies of 1 KB, {sessions} sessions in the tables.\n");
    println!("`fdatasync` of a page of 8 KB takes {:.2} ms (p50 of 200).\n", disk());
    appends(&server).await;
    let slow = "alter system set commit_delay = 4000; alter system set commit_siblings = 0; select pg_reload_conf()";
    println!("\nWith a flush that takes 4 ms more, as many disks do (`commit_delay = 4000`, `commit_siblings = 0`):\n");
    set(&client, slow).await;
    appends(&server).await;
    set(&client, "alter system reset commit_delay; alter system reset commit_siblings; select pg_reload_conf()").await;

    println!("\nWhere the time of one client goes, by turns:\n");
    parts(&server).await;

    println!(
        "\nOpening a session, the reading of its last 200 messages of 1 KB and the durable commit of the ownership included:\n"
    );
    println!("| session | p50 of opening | p50 of an empty commit by turns |");
    println!("|---|---|---|");
    let mut empty = Empty::new(pool(&server), 99).await;
    for (what, name, entries) in
        [("200 messages", "resumed", messages(200)), ("10,000 messages, compacted", "compacted", compacted())]
    {
        let (opening, commit) = resume(&server, &mut empty, name, &entries).await;
        println!("| {what} | {opening:.2} ms | {commit:.2} ms |");
    }
}

/// What the disk takes for the least that a commit asks of it: a page of a file that has its size already.
fn disk() -> f64 {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[0; 8192]).unwrap();
    file.sync_all().unwrap();
    let flush = |_| {
        file.rewind().unwrap();
        file.write_all(&[7; 8192]).unwrap();
        let started = Instant::now();
        file.sync_data().unwrap();
        started.elapsed()
    };
    Measured { times: (0..200).map(flush).collect(), took: Duration::ZERO }.p50_ms()
}

/// The goal for one client: at most this many times an empty commit.
const GOAL: f64 = 1.3;

/// What the parts of an append cost, as a table, and whether the whole is within the goal.
async fn parts(server: &Server) {
    let pool = pool(server);
    let mut empty = vec![Empty::new(pool.clone(), 0).await];
    let mut renew = vec![Renew(Append::new(pool.clone(), 90, 0).await)];
    let mut small = vec![Append::new(pool.clone(), 91, 10).await];
    let mut append = vec![Append::new(pool, 92, 1000).await];
    let mut measured: [Measured; 4] = Default::default();
    for _ in 0..ROUNDS {
        measured[0].add(measure(&mut empty).await);
        measured[1].add(measure(&mut renew).await);
        measured[2].add(measure(&mut small).await);
        measured[3].add(measure(&mut append).await);
    }
    let p50 = measured.map(|measured| measured.p50_ms());
    println!("| statement | p50 | beyond an empty commit |");
    println!("|---|---|---|");
    let names = [
        "an empty commit: one number in one row",
        "a renewal: the session's row, by way of its name",
        "an append of 10 bytes: that row, the entry's row, its place in two indexes",
        "an append of 1 KB",
    ];
    for (name, part) in names.iter().zip(p50) {
        println!("| {name} | {part:.2} ms | {:.2} ms |", part - p50[0]);
    }
    let ratio = p50[3] / p50[0];
    let verdict = if ratio <= GOAL { "met" } else { "missed on this disk" };
    println!("\nAn append of 1 KB takes {ratio:.2} times an empty commit; the goal of at most {GOAL} is {verdict}.");
}

/// Changes settings of the running server.
async fn set(client: &tokio_postgres::Client, statements: &str) {
    // `alter system` takes no block of several
    for statement in statements.split("; ") {
        client.batch_execute(statement).await.unwrap();
    }
}

/// Appends and empty commits by turns, as a table.
async fn appends(server: &Server) {
    println!(
        "| clients | appends/s | p50 of an append | empty commits/s | p50 of an empty commit | ratio of p50 | difference |"
    );
    println!("|---|---|---|---|---|---|---|");
    for clients in [1, 8, 32] {
        let pool = pool(server);
        let (mut empties, mut appends) = (Vec::new(), Vec::new());
        for number in 0..clients {
            empties.push(Empty::new(pool.clone(), number).await);
            appends.push(Append::new(pool.clone(), number, 1000).await);
        }
        let (mut empty, mut append) = (Measured::default(), Measured::default());
        for _ in 0..ROUNDS {
            empty.add(measure(&mut empties).await);
            append.add(measure(&mut appends).await);
        }
        let (ours, least) = (append.p50_ms(), empty.p50_ms());
        println!(
            "| {clients} | {} | {ours:.2} ms | {} | {least:.2} ms | {:.2} | {:.2} ms |",
            append.per_second(),
            empty.per_second(),
            ours / least,
            ours - least,
        );
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// Connections enough for every client.
fn pool(server: &Server) -> PostgresSessions {
    let manager = deadpool_postgres::Manager::new(server.url().parse().unwrap(), tokio_postgres::NoTls);
    PostgresSessions::with_pool(deadpool_postgres::Pool::builder(manager).max_size(32).build().unwrap())
}

async fn fill(client: &tokio_postgres::Client, sessions: i64) {
    let make = "insert into insomnia_sessions (session_id, epoch, head_seq, fmt)
        select 'filler-' || n, 1, 1, 1 from generate_series(1, $1::bigint) n";
    client.execute(make, &[&sessions]).await.unwrap();
    let items = "insert into insomnia_items (session_id, seq, epoch, item_id, kind, body)
        select 'filler-' || n, seq, 1, 'item-' || seq, 'user', repeat('x', 200)
        from generate_series(1, $1::bigint) n, generate_series(0, 1) seq";
    client.execute(items, &[&sessions]).await.unwrap();
    client.batch_execute("create table empty (id int primary key, n bigint); checkpoint; analyze").await.unwrap();
    client.batch_execute("insert into empty select id, 0 from generate_series(0, 99) id").await.unwrap();
}

trait Step: Send + 'static {
    fn step(&mut self) -> impl Future<Output = ()> + Send;
}

/// The smallest change that a commit must make durable.
struct Empty(PostgresSessions, i32);

impl Empty {
    async fn new(sessions: PostgresSessions, number: usize) -> Self {
        Self(sessions, i32::try_from(number).unwrap())
    }
}

impl Step for Empty {
    async fn step(&mut self) {
        let client = self.0.pool().get().await.unwrap();
        client.query_typed("update empty set n = n + 1 where id = $1", &[(&self.1, Type::INT4)]).await.unwrap();
    }
}

struct Append {
    stores: Vec<(PostgresStore, u64)>,
    turn: usize,
    text: Item,
}

impl Append {
    async fn new(sessions: PostgresSessions, number: usize, bytes: usize) -> Self {
        let mut stores = Vec::new();
        for index in 0..OPEN {
            let options = PostgresOptions::new().take_over(true);
            let opened = sessions.open(&format!("client-{number}-{index}"), options).await.unwrap();
            stores.push((opened.store, opened.session.next_seq));
        }
        Self { stores, turn: 0, text: Item::user_message("x".repeat(bytes)) }
    }
}

impl Step for Append {
    async fn step(&mut self) {
        self.turn = (self.turn + 1) % OPEN;
        let (store, seq) = &mut self.stores[self.turn];
        store.append(&Entry::new(*seq, 1, EntryBody::Item(self.text.clone())));
        *seq += 1;
        store.flush().await.unwrap();
    }
}

/// The session's row alone.
struct Renew(Append);

impl Step for Renew {
    async fn step(&mut self) {
        self.0.turn = (self.0.turn + 1) % OPEN;
        self.0.stores[self.0.turn].0.renew().await.unwrap();
    }
}

#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    took: Duration,
}

impl Measured {
    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.took += other.took;
    }

    fn per_second(&self) -> u64 {
        (self.times.len() as f64 / self.took.as_secs_f64()) as u64
    }

    fn p50_ms(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1000.0
    }
}

async fn measure<S: Step>(steppers: &mut Vec<S>) -> Measured {
    let barrier = Arc::new(tokio::sync::Barrier::new(steppers.len()));
    let running = std::mem::take(steppers).into_iter().map(|mut stepper| {
        let barrier = Arc::clone(&barrier);
        tokio::spawn(async move {
            // what the other kind left in the connection's caches and in the disk's queue
            for _ in 0..5 {
                stepper.step().await;
            }
            barrier.wait().await;
            let begun = Instant::now();
            let mut times = Vec::new();
            while begun.elapsed() < SPAN {
                let step = Instant::now();
                stepper.step().await;
                times.push(step.elapsed());
            }
            (stepper, times, begun.elapsed())
        })
    });
    let mut measured = Measured::default();
    for done in futures_util::future::join_all(running.collect::<Vec<_>>()).await {
        let (stepper, times, took) = done.unwrap();
        steppers.push(stepper);
        measured.times.extend(times);
        measured.took = measured.took.max(took);
    }
    measured
}

/// Opening a session of these entries, and an empty commit, by turns; the p50 of each.
async fn resume(server: &Server, empty: &mut Empty, name: &str, entries: &[Entry]) -> (f64, f64) {
    let sessions = pool(server);
    let header = insomnia_tasks::session::Header::new(None);
    sessions.create(name, &header, entries).await.unwrap();
    let (mut opening, mut commits) = (Vec::new(), Vec::new());
    for _ in 0..201 {
        let started = Instant::now();
        empty.step().await;
        commits.push(started.elapsed());
        let started = Instant::now();
        let opened = sessions.open(name, PostgresOptions::new().tail_only(true)).await.unwrap();
        opening.push(started.elapsed());
        assert!((200..=201).contains(&opened.session.entries.len()), "not the last 200");
        opened.store.close().await.unwrap();
    }
    let p50 = |times| Measured { times, took: Duration::ZERO }.p50_ms();
    (p50(opening), p50(commits))
}

fn messages(count: u64) -> Vec<Entry> {
    (1..=count).map(|seq| Entry::new(seq, 1, EntryBody::Item(Item::user_message("x".repeat(1000))))).collect()
}

/// Ten thousand messages, of which all but the last 200 are summarised.
fn compacted() -> Vec<Entry> {
    let mut entries = messages(10_000);
    let compact = r#"{"base_seq":9799,"summary":"what was before","tail_from":9800,
        "tasks":{"next_id":1,"applied_through":9799,"tasks":[]},
        "counters":{"requests_since_last_task_management":0,"requests_since_last_reminder":null}}"#;
    let compact = serde_json::value::RawValue::from_string(compact.to_owned()).unwrap();
    entries[9_799] = Entry::new(9_800, 1, EntryBody::Compact(compact));
    entries
}
