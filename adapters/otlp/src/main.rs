//! Runs one turn with the demo's model and sends its traces to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, by default
//! one on this machine. `--contents` sends prompts, answers and tool results as well.

use std::{env, error::Error};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::{Pod, worker::WorkerSettings};
use insomnia_tasks_examples::{demo::ForgetfulModel, scripted::ScriptedServer};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let provider = insomnia_tasks_otlp::provider(None)?;
    tracing_subscriber::registry().with(insomnia_tasks_otlp::layer(&provider)).init();

    let server = ScriptedServer::start(ForgetfulModel::default()).await?;
    let client = Client::with_config(OpenAIConfig::new().with_api_base(server.base_url()));
    let mut settings = WorkerSettings::default();
    settings.agent = Some("demo".to_owned());
    settings.trace_contents = env::args().any(|argument| argument == "--contents");
    let pod = Pod::builder(&client, "demo").settings(settings).build().await?;
    println!("{}", pod.run("Look around in this folder.").await?.text);
    let where_to = "see that one listens at OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318";
    provider.force_flush().map_err(|error| format!("no collector took the spans ({error}); {where_to}"))?;
    provider.shutdown()?;
    Ok(())
}
