//! Prints the spans and events of one turn with the demo's model, as an operator's log would show them.
//!
//! `traces` shows names, counts and decisions; `traces --contents` prompts, answers and tool results as well.

use std::{env, error::Error};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Pod, worker::WorkerSettings};
use insomnia_tasks_examples::{demo::ForgetfulModel, scripted::ScriptedServer};
use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt()
        .with_max_level(Level::DEBUG)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(std::io::stderr)
        .init();
    let server = ScriptedServer::start(ForgetfulModel::default()).await?;
    let client = Client::with_config(OpenAIConfig::new().with_api_base(server.base_url()));
    let mut settings = WorkerSettings::default();
    settings.trace_contents = env::args().any(|argument| argument == "--contents");
    let pod = Pod::builder(&client, "demo").settings(settings).build().await?;
    println!("{}", pod.run("Look around in this folder.").await?.text);
    Ok(())
}
