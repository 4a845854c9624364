//! Random schedules of two owners of one session: I19, a fenced owner appends nothing, and I20, an append whose answer was
//! lost happens exactly once.
//!
//! 1,000 schedules by default; `INSOMNIA_PG_SCHEDULES=10000` runs more, `INSOMNIA_PG_FIRST_SEED=10000` others, and
//! `INSOMNIA_PG_SEED=7` runs one again.

use std::{collections::HashSet, time::Duration};

use fastrand::Rng;
use insomnia_tasks::session::{
    Storage, StorageError, StorageErrorKind,
    postgres::{PostgresError, PostgresOptions, PostgresSessions, PostgresStore},
};
use tokio::time::timeout;

use crate::{
    proxy::{Cut, Proxy},
    server::{Server, server},
    storage::{RowLock, end_lease, entry, lines},
};

const WORKERS: u64 = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i19_i20_two_owners_lose_nothing_double_nothing_and_a_fenced_one_appends_nothing() {
    let server = server!();
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds: Vec<u64> = match number("INSOMNIA_PG_SEED") {
        Some(seed) => vec![seed],
        None => {
            let first = number("INSOMNIA_PG_FIRST_SEED").unwrap_or(0);
            (first..first + number("INSOMNIA_PG_SCHEDULES").unwrap_or(1_000)).collect()
        }
    };
    server.sessions().migrate().await.unwrap();
    let started = std::time::Instant::now();
    let workers = (0..WORKERS).map(|worker| {
        let seeds: Vec<u64> = seeds.iter().copied().filter(|seed| seed % WORKERS == worker).collect();
        tokio::spawn(async move {
            let world = World::new(server).await;
            let mut seen = Seen::default();
            for seed in seeds {
                seen.add(&Schedule::run(&world, seed).await);
            }
            seen
        })
    });
    let mut seen = Seen::default();
    for worker in futures_util::future::join_all(workers).await {
        seen.add(&worker.unwrap());
    }
    // a row of docs/postgres-schedules.md
    let (first, last, seconds) = (seeds[0], seeds[seeds.len() - 1], started.elapsed().as_secs_f64());
    let Seen { kept, fenced, cuts, dropped, taken } = seen;
    println!(
        "\n| {first} to {last} | {} | {seconds:.0} | {kept} | {fenced} | {cuts} | {dropped} | {taken} |",
        seeds.len()
    );
    if seeds.len() > 100 {
        assert!([kept, fenced, cuts, dropped, taken].iter().all(|count| *count > seeds.len() / 10), "too tame");
    }
}

/// What happened, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Seen {
    kept: usize,
    fenced: usize,
    cuts: usize,
    dropped: usize,
    taken: usize,
}

impl Seen {
    fn add(&mut self, other: &Self) {
        self.kept += other.kept;
        self.fenced += other.fenced;
        self.cuts += other.cuts;
        self.dropped += other.dropped;
        self.taken += other.taken;
    }
}

/// Two machines with a connection each that can be cut, and a view from outside.
struct World {
    machines: [(Proxy, PostgresSessions); 2],
    outside: PostgresSessions,
    clock: tokio_postgres::Client,
    server: &'static Server,
}

impl World {
    async fn new(server: &'static Server) -> Self {
        let machine = async || {
            let proxy = Proxy::start(server.port).await;
            let sessions = PostgresSessions::connect(&server.url_at(proxy.port, "postgres")).unwrap();
            (proxy, sessions)
        };
        Self {
            machines: [machine().await, machine().await],
            outside: server.sessions(),
            clock: server.client().await,
            server,
        }
    }
}

/// One life of an owner, from its opening on.
struct Life {
    machine: usize,
    store: PostgresStore,
    next_seq: u64,
    /// What it was given, in order, and how much of that is acknowledged or may have been sent.
    asked: Vec<String>,
    acknowledged: usize,
    sent: usize,
    /// Another life began; how much was sent by then.
    fenced_at: Option<usize>,
    closed: bool,
}

struct Schedule<'a> {
    world: &'a World,
    name: String,
    rng: Rng,
    lives: Vec<Life>,
    /// What was read, from whichever place.
    views: Vec<Vec<String>>,
    seen: Seen,
}

impl<'a> Schedule<'a> {
    async fn run(world: &'a World, seed: u64) -> Seen {
        let name = format!("schedule-{seed}");
        let (rng, seen) = (Rng::with_seed(seed), Seen::default());
        let mut schedule = Self { world, name, rng, lives: Vec::new(), views: Vec::new(), seen };
        let first = schedule.rng.usize(..2);
        schedule.open(first, false).await;
        for _ in 0..schedule.rng.usize(4..12) {
            schedule.step().await;
        }
        schedule.check().await;
        schedule.seen
    }

    async fn step(&mut self) {
        match self.rng.u32(..100) {
            ..50 if !self.lives.is_empty() => {
                // mostly the one that owns, often one that did
                let back = if self.rng.u32(..3) == 0 { self.rng.usize(..self.lives.len()) } else { 0 };
                let life = self.lives.len() - 1 - back;
                self.give(life);
                self.flush(life).await;
            }
            50..70 => {
                let (machine, taking) = (self.rng.usize(..2), self.rng.bool());
                self.open(machine, taking).await;
            }
            70..80 => end_lease(&self.world.clock, &self.name).await,
            80..85 => self.race().await,
            85..93 => self.hurry().await,
            93..95 => self.close().await,
            _ => self.views.push(lines(&self.world.outside.read_records(&self.name).await.unwrap())),
        }
    }

    /// Queues entries, without writing them.
    fn give(&mut self, life: usize) {
        let count = self.rng.usize(1..4);
        let life = &mut self.lives[life];
        for _ in 0..count {
            let entry = entry(life.next_seq, "x");
            life.next_seq += 1;
            life.asked.push(entry.id.clone());
            life.store.append(&entry);
        }
    }

    /// Writes what is queued, with whatever may befall it.
    async fn flush(&mut self, index: usize) {
        let patience = (self.rng.u32(..5) == 0).then(|| self.patience());
        self.flush_within(index, patience).await;
    }

    /// Time enough for some of what a flush does.
    fn patience(&mut self) -> Duration {
        Duration::from_micros(self.rng.u64(..20_000))
    }

    /// The same, dropped after this time if there is one.
    async fn flush_within(&mut self, index: usize, patience: Option<Duration>) {
        let cut = match self.rng.u32(..10) {
            0 | 1 => Some(Cut::Answer),
            2 => Some(Cut::Request),
            _ => None,
        };
        let life = &mut self.lives[index];
        let proxy = &self.world.machines[life.machine].0;
        cut.into_iter().for_each(|cut| proxy.arm(cut));
        if life.fenced_at.is_none() {
            life.sent = life.asked.len();
        }
        let outcome = match patience {
            Some(patience) => timeout(patience, life.store.flush()).await.ok(),
            None => Some(life.store.flush().await),
        };
        self.seen.cuts += usize::from(cut.is_some() && !proxy.disarm());
        match outcome {
            Some(outcome) => self.flushed(index, outcome),
            None => self.seen.dropped += 1,
        }
    }

    fn flushed(&mut self, index: usize, outcome: Result<(), StorageError>) {
        let life = &mut self.lives[index];
        match outcome {
            Ok(()) => {
                assert!(life.fenced_at.is_none() || life.acknowledged == life.asked.len(), "a fenced owner wrote");
                life.acknowledged = life.asked.len();
            }
            Err(error) => {
                let expected = if life.closed { StorageErrorKind::Closed } else { StorageErrorKind::Fenced };
                assert_eq!(error.kind(), expected, "{error}");
                assert!(life.closed || life.fenced_at.is_some(), "fenced by nobody");
                self.seen.fenced += 1;
            }
        }
    }

    async fn open(&mut self, machine: usize, taking: bool) {
        let (proxy, sessions) = &self.world.machines[machine];
        if self.rng.u32(..8) == 0 {
            proxy.arm(if self.rng.bool() { Cut::Answer } else { Cut::Request });
        }
        let outcome = sessions.open(&self.name, PostgresOptions::new().take_over(taking)).await;
        proxy.disarm();
        match outcome {
            Ok(opened) => self.begin(machine, opened),
            Err(error) => assert!(!taking && matches!(error, PostgresError::InUse { .. }), "{error}"),
        }
    }

    fn begin(&mut self, machine: usize, opened: insomnia_tasks::session::postgres::OpenedPostgres) {
        if let Some(former) = self.lives.last_mut() {
            former.fenced_at.get_or_insert(former.sent);
            self.seen.taken += usize::from(!former.closed);
        }
        self.views.push(lines(&opened.session));
        self.lives.push(Life {
            machine,
            store: opened.store,
            next_seq: opened.session.next_seq,
            asked: Vec::new(),
            acknowledged: 0,
            sent: 0,
            fenced_at: None,
            closed: false,
        });
    }

    /// The owner writes while another one takes over.
    async fn race(&mut self) {
        let Some(index) = self.lives.len().checked_sub(1) else { return };
        self.give(index);
        let life = &mut self.lives[index];
        life.sent = life.asked.len();
        let other = 1 - life.machine;
        let options = PostgresOptions::new().take_over(true);
        let opening = self.world.machines[other].1.open(&self.name, options);
        let (outcome, opened) = tokio::join!(life.store.flush(), opening);
        self.begin(other, opened.unwrap());
        match outcome {
            // it came first
            Ok(()) => self.lives[index].acknowledged = self.lives[index].asked.len(),
            outcome => self.flushed(index, outcome),
        }
    }

    /// Turns that are dropped one after the other. While someone holds the session's row the server cannot finish what it was
    /// sent; it does when the row is free, whoever wants it then.
    async fn hurry(&mut self) {
        let Some(index) = self.lives.len().checked_sub(1) else { return };
        for _ in 0..self.rng.usize(2..5) {
            let held = match self.rng.bool() {
                true => Some(RowLock::on(self.world.server, &self.name).await),
                false => None,
            };
            self.give(index);
            let patience = self.patience();
            self.flush_within(index, Some(patience)).await;
            if let Some(held) = held {
                held.release().await;
            }
        }
    }

    async fn close(&mut self) {
        let Some(life) = self.lives.last_mut().filter(|life| !life.closed) else { return };
        life.sent = life.asked.len();
        life.store.close().await.unwrap();
        (life.closed, life.acknowledged) = (true, life.asked.len());
    }

    async fn check(&mut self) {
        let last = self.world.outside.read_records(&self.name).await.unwrap();
        assert!(last.damage.is_empty(), "{:?}", last.damage);
        let ids: Vec<&str> = last.entries.iter().map(|entry| entry.id.as_str()).collect();
        let there: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(there.len(), ids.len(), "{}: an entry is there twice", self.name);
        let mut known = 0;
        for life in &self.lives {
            let kept = life.asked.iter().take_while(|id| there.contains(id.as_str())).count();
            let found = life.asked.iter().filter(|id| there.contains(id.as_str())).count();
            assert_eq!(kept, found, "{}: not a prefix of what was asked", self.name);
            assert!(kept >= life.acknowledged, "{}: an acknowledged entry is lost", self.name);
            assert!(life.fenced_at.is_none_or(|sent| kept <= sent), "{}: a stale append", self.name);
            known += kept;
        }
        assert_eq!(known, ids.len(), "{}: an entry that nobody wrote", self.name);
        let last = lines(&last);
        assert!(self.views.iter().all(|view| last.starts_with(view)), "{}: a view that is no prefix", self.name);
        self.seen.kept += ids.len();
    }
}
