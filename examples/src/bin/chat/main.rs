//! `chat`: an agent that keeps its task list, on any OpenAI-compatible server.

mod args;
mod endpoint;
mod failure;
mod interactive;
mod json;
mod place;
mod prompts;
mod saved;
mod screen;
mod session;
mod text;
mod turns;

use std::{
    io::{IsTerminal, stdin},
    process::ExitCode,
};

use clap::Parser;

use args::{Args, Command};
use endpoint::{DEMO_PROMPT, Endpoint};
use failure::Failure;
use prompts::Prompts;
use screen::Screen;
use turns::run_prompts;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

async fn run(args: Args) -> Result<(), Failure> {
    match &args.command {
        Some(Command::Tasks(saved)) => return saved::print_tasks(&saved.session).await,
        Some(Command::History(saved)) => return saved::print_history(&saved.session).await,
        None => {}
    }
    let endpoint = Endpoint::choose(&args).await?;
    let opened = session::open(&args, &endpoint).await?;
    let screen = Screen::new(args.output);
    screen.opened(&opened, &endpoint);

    let outcome = if !args.prompts.is_empty() {
        run_prompts(&opened.pod, &screen, Prompts::given(args.prompts.clone()), args.keep_going).await
    } else if stdin().is_terminal() {
        let first = endpoint.demo.is_some().then(|| DEMO_PROMPT.to_owned());
        interactive::run(&opened, &screen, first).await
    } else {
        let fallback = endpoint.demo.is_some().then(|| DEMO_PROMPT.to_owned());
        run_prompts(&opened.pod, &screen, Prompts::piped(fallback), args.keep_going).await
    };
    let closed = opened.pod.close().await.map_err(|error| Failure::Turn(error.to_string()));
    screen.closed(&opened);
    outcome.and(closed)
}
