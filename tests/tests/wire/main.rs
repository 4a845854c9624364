//! What servers really send and refuse, through the real loop over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests, where these are the failure

mod case;
mod cases;
mod expect;
mod hosts;
mod limits;
mod refusals;
mod requests;
mod retries;
mod rules;
mod timeouts;

use std::sync::{LazyLock, Mutex, MutexGuard};

use async_openai::{Client, config::OpenAIConfig};
use insomnia_tasks::worker::Event;
use insomnia_tasks_examples::scripted::ScriptedServer;

/// A client of this server.
fn client(server: &ScriptedServer) -> Client<OpenAIConfig> {
    client_at(&server.base_url())
}

fn client_at(base_url: &str) -> Client<OpenAIConfig> {
    // the loop takes over the configuration alone, and a client with its TLS roots is slow to make
    static UNUSED: LazyLock<reqwest::Client> = LazyLock::new(reqwest::Client::new);
    Client::build(UNUSED.clone(), OpenAIConfig::new().with_api_base(base_url).with_api_key("sk-test"))
}

/// What a listener was told.
#[derive(Default)]
struct Heard(Mutex<Vec<Event>>);

impl Heard {
    fn listener(&self) -> impl Fn(Event) + Send + Sync + '_ {
        |event| self.events().push(event)
    }

    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap()
    }

    /// All pieces of text.
    fn text(&self) -> String {
        let text = |event: &Event| match event {
            Event::TextDelta(text) => Some(text.clone()),
            _ => None,
        };
        self.events().iter().filter_map(text).collect()
    }
}
