use std::{env, net::IpAddr};

use async_openai::{
    Client,
    config::{OPENAI_API_BASE, OpenAIConfig},
};
use insomnia_tasks_examples::{demo::ForgetfulModel, scripted::ScriptedServer};
use reqwest::Url;

use crate::{args::Args, failure::Failure};

/// The model that is asked for where none is named.
const DEFAULT_MODEL: &str = "gpt-5-mini";

/// What the demo is asked to do where no prompt is given.
pub(crate) const DEMO_PROMPT: &str = "Look around in this folder and write me a short summary of what it holds.";

/// The server that the agent talks to.
pub(crate) struct Endpoint {
    pub(crate) client: Client<OpenAIConfig>,
    pub(crate) model: String,
    base_url: String,
    /// The demo server, while it is to run.
    pub(crate) demo: Option<ScriptedServer>,
}

impl Endpoint {
    /// Chooses by flags, then by environment; neither an address nor a key means the demo.
    pub(crate) async fn choose(args: &Args) -> Result<Self, Failure> {
        match Choice::new(args, |name| env::var(name).ok())? {
            Choice::Demo => Self::start_demo().await,
            Choice::Server { base_url, api_key, model } => {
                let config = OpenAIConfig::new().with_api_key(api_key).with_api_base(&base_url);
                // as they come from files, with a line break, async-openai would panic
                let [organization, project] = ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"].map(|name| env::var(name).ok());
                let config = config.with_org_id(organization.unwrap_or_default().trim());
                let config = config.with_project_id(project.unwrap_or_default().trim());
                Ok(Self { client: Client::with_config(config), model, base_url, demo: None })
            }
        }
    }

    /// The address without what may be secret in it.
    pub(crate) fn shown_url(&self) -> String {
        let Ok(mut url) = Url::parse(&self.base_url) else { return String::new() };
        // neither can fail for an address with a host
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.set_query(None);
        url.to_string()
    }

    /// Whether the server is on this machine, where no proxy can reach it.
    pub(crate) fn is_local(&self) -> bool {
        let Ok(url) = Url::parse(&self.base_url) else { return false };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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

#[derive(Debug, PartialEq, Eq)]
enum Choice {
    Demo,
    Server { base_url: String, api_key: String, model: String },
}

impl Choice {
    fn new(args: &Args, variable: impl Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        // a flag, even an empty one, beats the variable; an empty value is none
        let value = |flag: &Option<String>, name: &str| {
            let value = flag.clone().or_else(|| variable(name))?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let base_url = value(&args.base_url, "OPENAI_BASE_URL");
        let api_key = value(&args.api_key, "OPENAI_API_KEY");
        let model = value(&args.model, "OPENAI_MODEL");
        if args.demo || (base_url.is_none() && api_key.is_none()) {
            return Ok(Self::Demo);
        }
        let base_url = base_url.map_or_else(|| Ok(OPENAI_API_BASE.to_owned()), |url| checked(&url))?;
        let model = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        Ok(Self::Server { base_url, api_key: api_key.unwrap_or_default(), model })
    }
}

/// An address that paths can be put behind.
fn checked(base_url: &str) -> Result<String, Failure> {
    match Url::parse(base_url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            Ok(base_url.trim_end_matches('/').to_owned())
        }
        _ => Err(Failure::Usage(format!(
            "`{}` is no address of a server; give --base-url (or OPENAI_BASE_URL) one such as \
             http://localhost:11434/v1",
            without_secrets(base_url)
        ))),
    }
}

/// What may be shown of something that was to be an address.
fn without_secrets(base_url: &str) -> String {
    let plain = base_url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("//").map_or(("", plain), |(scheme, rest)| (scheme, rest));
    match rest.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => format!("***@{host}"),
        Some((_, host)) => format!("{scheme}//***@{host}"),
        None => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn choose(flags: &[&str], variables: &[(&str, &str)]) -> Result<Choice, Failure> {
        let args = Args::parse_from([&["chat"], flags].concat());
        Choice::new(&args, |name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    fn server(base_url: &str, api_key: &str, model: &str) -> Choice {
        Choice::Server { base_url: base_url.to_owned(), api_key: api_key.to_owned(), model: model.to_owned() }
    }

    #[test]
    fn a_key_alone_means_openai() {
        let openai = |key| server("https://api.openai.com/v1", key, "gpt-5-mini");
        assert_eq!(choose(&[], &[("OPENAI_API_KEY", "sk-1\n")]).unwrap(), openai("sk-1"));
        assert_eq!(choose(&["--api-key", "sk-2"], &[("OPENAI_BASE_URL", "")]).unwrap(), openai("sk-2"));
    }

    #[test]
    fn neither_address_nor_key_means_the_demo() {
        assert_eq!(choose(&[], &[]).unwrap(), Choice::Demo);
        assert_eq!(
            choose(&["--model", "x"], &[("OPENAI_API_KEY", " "), ("OPENAI_BASE_URL", "\n")]).unwrap(),
            Choice::Demo
        );
        assert_eq!(choose(&["--demo"], &[("OPENAI_API_KEY", "sk-1")]).unwrap(), Choice::Demo);
    }

    #[test]
    fn flags_beat_variables() {
        let variables = [("OPENAI_BASE_URL", "http://a/v1"), ("OPENAI_API_KEY", "a"), ("OPENAI_MODEL", "a")];
        let flags = ["--base-url", "http://b/v1/", "--api-key", "b", "--model", "b"];
        assert_eq!(choose(&flags, &variables).unwrap(), server("http://b/v1", "b", "b"));
        assert_eq!(choose(&[], &variables).unwrap(), server("http://a/v1", "a", "a"));
        assert_eq!(choose(&["--api-key", ""], &variables).unwrap(), server("http://a/v1", "", "a"));
    }

    #[test]
    fn an_address_must_be_one() {
        for wrong in ["localhost:11434", "ftp://a/v1", "http://", "v1", "http://a b/"] {
            let Err(Failure::Usage(message)) = choose(&["--base-url", wrong], &[]) else { panic!("{wrong}") };
            assert!(message.contains(wrong) && message.contains("--base-url"), "{message}");
        }
        for wrong in ["htp://me:secret@a/v1", "me:secret@a/v1", "a/v1?key=secret", "//me:secret@a"] {
            let Err(Failure::Usage(message)) = choose(&["--base-url", wrong], &[]) else { panic!("{wrong}") };
            assert!(message.contains("a/v1") || message.contains("@a"), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
