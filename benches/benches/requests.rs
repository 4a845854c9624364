//! What a request costs in CPU time, beside other ways to send the same.

use std::{hint::black_box, time::Duration};

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionRequestAssistantMessageArgs, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
    },
};
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use insomnia_tasks::{
    wire::{Dialect, Projection, RequestBody},
    worker::{Worker, WorkerSettings},
};
use insomnia_tasks_benches::{CpuTime, Server, talk};
use rig_agent::prelude::*;
use rig_core::providers::openai::CompletionsClient;
use tokio::runtime::{Builder, Runtime};

const MODEL: &str = "bench";

/// So many requests are made with one history before it is made anew: each makes it longer by two messages.
const RUNS: u64 = 10;

/// From kept messages to the bytes that an HTTP client is given.
fn body(c: &mut Criterion<CpuTime>) {
    let mut group = c.benchmark_group("body");
    for count in [1_000, 10_000] {
        let mut projection = Projection::new(Dialect::default(), None);
        projection.extend(&talk::items(count));
        let make = || {
            let messages = projection.messages();
            RequestBody { model: MODEL, messages: &messages, ..RequestBody::default() }.to_bytes()
        };
        group.bench_function(BenchmarkId::new("crate", count), |b| b.iter(|| black_box(make())));
        let typed = talk::typed(count);
        group.bench_function(BenchmarkId::new("typed", count), |b| {
            b.iter(|| serde_json::to_vec(black_box(&request(&typed))).expect("JSON"))
        });
        let ready = make();
        group.bench_function(BenchmarkId::new("memcpy", count), |b| b.iter(|| black_box(&ready).clone()));
    }
    group.finish();
}

fn request(messages: &[async_openai::types::chat::ChatCompletionRequestMessage]) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest { model: MODEL.to_owned(), messages: messages.to_vec(), ..Default::default() }
}

/// Whole requests, from the prompt to the answer in the history, on one thread.
fn whole(c: &mut Criterion<CpuTime>) {
    let server = Server::start("Noted.").expect("a port");
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut group = c.benchmark_group("request");
    group.sampling_mode(SamplingMode::Flat);
    for count in [10, 100, 1_000, 3_000, 10_000] {
        group.bench_function(BenchmarkId::new("crate", count), |b| {
            b.iter_custom(|iterations| worker(&runtime, &server, count, iterations))
        });
        group.bench_function(BenchmarkId::new("typed", count), |b| {
            b.iter_custom(|iterations| typed(&runtime, &server, count, iterations))
        });
        group.bench_function(BenchmarkId::new("rig", count), |b| {
            b.iter_custom(|iterations| rig(&runtime, &server, count, iterations))
        });
        group.bench_function(BenchmarkId::new("transport", count), |b| {
            b.iter_custom(|iterations| transport(&runtime, &server, count, iterations, Bytes::clone))
        });
        group.bench_function(BenchmarkId::new("copied", count), |b| {
            b.iter_custom(|iterations| transport(&runtime, &server, count, iterations, |ready| ready.to_vec().into()))
        });
    }
    group.finish();
}

/// Runs of at most [`RUNS`] that sum up to `iterations`.
fn batches(iterations: u64) -> impl Iterator<Item = u64> {
    (0..iterations).step_by(RUNS as usize).map(move |done| RUNS.min(iterations - done))
}

fn client(server: &Server) -> Client<OpenAIConfig> {
    Client::with_config(OpenAIConfig::new().with_api_key("key").with_api_base(server.base_url()))
}

fn worker(runtime: &Runtime, server: &Server, count: usize, iterations: u64) -> Duration {
    let (client, items) = (client(server), talk::items(count));
    let http = reqwest::Client::new();
    let mut spent = Duration::ZERO;
    for runs in batches(iterations) {
        let mut settings = WorkerSettings::default();
        settings.stream = false;
        let worker = Worker::builder(&client, MODEL).settings(settings).http_client(http.clone());
        let mut worker = worker.resume(items.clone(), 1).build().expect("a worker");
        runtime.block_on(async {
            let start = CpuTime::now();
            for _ in 0..runs {
                worker.run("Go on.", &|_| {}).await.expect("an answer");
            }
            spent += CpuTime::now() - start;
        });
    }
    spent
}

fn typed(runtime: &Runtime, server: &Server, count: usize, iterations: u64) -> Duration {
    let (client, messages) = (client(server), talk::typed(count));
    let mut spent = Duration::ZERO;
    for runs in batches(iterations) {
        let mut messages = messages.clone();
        runtime.block_on(async {
            let start = CpuTime::now();
            for _ in 0..runs {
                messages.push(ChatCompletionRequestUserMessage::from("Go on.").into());
                let response = client.chat().create(request(&messages)).await.expect("an answer");
                let text = response.choices.into_iter().next().and_then(|choice| choice.message.content);
                let mut answer = ChatCompletionRequestAssistantMessageArgs::default();
                messages.push(answer.content(text.unwrap_or_default()).build().expect("a message").into());
            }
            spent += CpuTime::now() - start;
        });
    }
    spent
}

fn rig(runtime: &Runtime, server: &Server, count: usize, iterations: u64) -> Duration {
    let client = CompletionsClient::builder().api_key("key").base_url(server.base_url()).build().expect("a client");
    let (agent, history) = (client.agent(MODEL).build(), talk::rig(count));
    let mut spent = Duration::ZERO;
    for runs in batches(iterations) {
        let mut history = history.clone();
        runtime.block_on(async {
            let start = CpuTime::now();
            for _ in 0..runs {
                agent.chat("Go on.", &mut history).await.expect("an answer");
            }
            spent += CpuTime::now() - start;
        });
    }
    spent
}

/// The same bytes, ready before, through the same HTTP client: what no loop can go below. `body` copies them or not.
fn transport(
    runtime: &Runtime,
    server: &Server,
    count: usize,
    iterations: u64,
    body: impl Fn(&Bytes) -> Bytes,
) -> Duration {
    let mut projection = Projection::new(Dialect::default(), None);
    projection.extend(&talk::items(count));
    let messages = projection.messages();
    let ready = Bytes::from(RequestBody { model: MODEL, messages: &messages, ..RequestBody::default() }.to_bytes());
    let (http, url) = (reqwest::Client::new(), format!("{}/chat/completions", server.base_url()));
    runtime.block_on(async {
        let start = CpuTime::now();
        for _ in 0..iterations {
            let request = http.post(&url).header("content-type", "application/json").body(body(&ready));
            request.send().await.expect("an answer").bytes().await.expect("a body");
        }
        CpuTime::now() - start
    })
}

criterion_group! {
    name = requests;
    config = Criterion::default()
        .with_measurement(CpuTime)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(700));
    targets = body, whole
}
criterion_main!(requests);
