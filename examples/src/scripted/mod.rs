//! A scripted model behind a real OpenAI-compatible HTTP server, for the demo and for tests.
//!
//! A [`ScriptedServer`] listens on a free loopback port, records every request byte for byte, and asks a
//! [`ScriptedModel`] what to say. A [`Reply`] is rendered as a JSON completion or as an event stream, whichever the
//! request asked for, and how its bytes reach the client is part of the script: cut at any offset, held at a [`Gate`],
//! truncated, or left hanging. Nothing depends on time, so tests need no sleeps.
//!
//! ```no_run
//! use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
//! use serde_json::json;
//!
//! # async fn run() -> std::io::Result<()> {
//! let create = [("TaskCreate", json!({"subject": "Tidy up", "description": ""}))];
//! let server = ScriptedServer::start(vec![Reply::calls(create), Reply::text("Noted.").chunked(1)]).await?;
//! println!("talk to {}", server.base_url());
//! let requests = server.wait_for_requests(2).await;
//! assert_eq!(requests[1].messages()[1]["tool_calls"][0]["id"], "call_1");
//! # Ok(())
//! # }
//! ```

mod answer;
mod delivery;
mod events;
mod gate;
mod model;
mod reply;
mod request;
mod server;
mod service;
#[cfg(test)]
mod tests;

pub use delivery::End;
pub use gate::Gate;
pub use model::ScriptedModel;
pub use reply::Reply;
pub use request::RecordedRequest;
pub use server::ScriptedServer;
