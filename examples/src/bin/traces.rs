//! Prints the spans and events of one turn with the demo's model, as an operator's log would show them.
//!
//! `traces` shows names, counts and decisions; `traces --contents` prompts, answers and tool results as well.

use std::{env, error::Error};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Pod, worker::WorkerSettings};
use insomnia_tasks_examples::{demo::ForgetfulModel, scripted::ScriptedServer};
use tracing::Level;
use tracing_subscriber::{filter::Targets, fmt::format::FmtSpan, layer::SubscriberExt, util::SubscriberInitExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // a line for each event, and one for each span when it ends; nothing of the HTTP client's own
    let lines = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE).with_writer(std::io::stderr);
    let ours = Targets::new().with_target("insomnia_tasks", Level::DEBUG);
    tracing_subscriber::registry().with(lines).with(ours).init();
    let server = ScriptedServer::start(ForgetfulModel::default()).await?;
    let client = Client::with_config(OpenAIConfig::new().with_api_base(server.base_url()));
    let mut settings = WorkerSettings::default();
    settings.trace_contents = env::args().any(|argument| argument == "--contents");
    let pod = Pod::builder(&client, "demo").settings(settings).build().await?;
    println!("{}", pod.run("Look around in this folder.").await?.text);
    Ok(())
}
