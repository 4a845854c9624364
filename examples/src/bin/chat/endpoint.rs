use std::env;

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks_examples::{demo::ForgetfulModel, scripted::ScriptedServer};

use crate::{args::Args, failure::Failure};

/// The model that is asked for where none is named.
const DEFAULT_MODEL: &str = "gpt-5-mini";

/// What the demo is asked to do where no prompt is given.
pub(crate) const DEMO_PROMPT: &str = "Look around in this folder and write me a short summary of what it holds.";

/// The server that the agent talks to.
pub(crate) struct Endpoint {
    pub(crate) client: Client<OpenAIConfig>,
    pub(crate) model: String,
    pub(crate) base_url: String,
    /// The demo server, while it is to run.
    pub(crate) demo: Option<ScriptedServer>,
}

impl Endpoint {
    /// Chooses by flags, then by environment; neither an address nor a key means the demo.
    pub(crate) async fn choose(args: &Args) -> Result<Self, Failure> {
        let base_url = args.base_url.clone().or_else(|| variable("OPENAI_BASE_URL"));
        let api_key = args.api_key.clone().or_else(|| variable("OPENAI_API_KEY"));
        let model = args.model.clone().or_else(|| variable("OPENAI_MODEL"));
        if args.demo || (base_url.is_none() && api_key.is_none()) {
            return Self::start_demo().await;
        }
        let mut config = OpenAIConfig::new().with_api_key(api_key.unwrap_or_default());
        if let Some(base_url) = base_url {
            let url = reqwest::Url::parse(&base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            if url.is_none() {
                return Err(Failure::Usage(format!(
                    "`{base_url}` is no address of a server; give one such as http://localhost:11434/v1"
                )));
            }
            config = config.with_api_base(base_url.trim_end_matches('/'));
        }
        let base_url = async_openai::config::Config::api_base(&config).to_owned();
        let model = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        Ok(Self { client: Client::with_config(config), model, base_url, demo: None })
    }

    async fn start_demo() -> Result<Self, Failure> {
        let server = ScriptedServer::start(ForgetfulModel::default())
            .await
            .map_err(|error| Failure::Turn(format!("the demo server cannot listen on loopback: {error}")))?;
        let base_url = server.base_url();
        let config = OpenAIConfig::new().with_api_base(&base_url).with_api_key("demo");
        let client = Client::with_config(config);
        Ok(Self { client, model: "forgetful-demo".to_owned(), base_url, demo: Some(server) })
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
