//! What idle sessions cost in memory, threads and open files. Prints JSON; `memory KIND` measures one kind, in a process of its own.

use std::{env, fs, path::Path, process::Command};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Pod, session::Durability};
use insomnia_tasks_benches::{Server, talk};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use tokio::runtime::Builder;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    if let Some(kind) = env::args().nth(1) {
        println!("{}", measure(&kind)?);
        return Ok(());
    }
    let mut figures = serde_json::Map::new();
    for kind in ["talked", "resumed", "empty", "empty-files"] {
        let output = Command::new(env::current_exe()?).arg(kind).output()?;
        let Ok(figure) = serde_json::from_slice::<Value>(&output.stdout) else {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        };
        figures.insert(kind.to_owned(), figure);
    }
    println!("{}", Value::Object(figures));
    Ok(())
}

/// A conversation of 100 messages, or none.
fn measure(kind: &str) -> Result<Value, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let server = Server::start(&talk::text(1))?;
    let client = Client::with_config(OpenAIConfig::new().with_api_key("key").with_api_base(server.base_url()));
    let folder = tempfile::tempdir_in(if Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "." })?;
    let builder = |number: usize| {
        let builder = Pod::builder(&client, "bench").stream(false).durability(Durability::Os);
        if kind == "resumed" || kind == "empty-files" {
            builder.session(folder.path().join(number.to_string()))
        } else {
            builder
        }
    };
    let (count, turns) = match kind {
        "empty" | "empty-files" => (10_000, 0),
        _ => (100, 50),
    };
    let talk = async |pod: &Pod| -> Result<(), Failure> {
        for turn in 0..turns {
            pod.run(talk::text(2 * turn)).await?;
        }
        Ok(())
    };
    runtime.block_on(async {
        // what a process needs once is not what a session needs
        let first = builder(count).build().await?;
        talk(&first).await?;
        if kind == "resumed" {
            for number in 0..count {
                talk(&builder(number).build().await?).await?;
            }
        }
        let before = now()?;
        let mut pods = Vec::with_capacity(count);
        for number in 0..count {
            let pod = builder(number).build().await?;
            if kind == "talked" {
                talk(&pod).await?;
            }
            pods.push(pod);
        }
        let after = now()?;
        let per_pod = |which: fn(&Now) -> usize| which(&after).saturating_sub(which(&before)) as f64 / count as f64;
        let messages: usize = pods.first().map_or(0, |pod| pod.history().iter().map(|item| item.json().len()).sum());
        Ok(json!({"pods": count, "messages": turns * 2, "message_bytes": messages, "heap": per_pod(|now| now.heap),
            "resident": per_pod(|now| now.resident), "files": per_pod(|now| now.files), "threads": per_pod(|now| now.threads)}))
    })
}

struct Now {
    heap: usize,
    resident: usize,
    files: usize,
    threads: usize,
}

fn now() -> Result<Now, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse::<usize>().ok()).unwrap_or_default()
    };
    let files = fs::read_dir("/proc/self/fd")?.count();
    Ok(Now { heap: HEAP.current_usage(), resident: 1024 * field("VmRSS:"), files, threads: field("Threads:") })
}
