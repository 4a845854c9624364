//! `chat`: an agent that keeps its task list, on any OpenAI-compatible server.

mod address;
mod args;
mod commands;
mod editor;
mod endpoint;
mod failure;
mod hints;
mod interactive;
mod interrupt;
mod json;
mod last;
mod live;
mod markdown;
mod modes;
mod place;
mod plain;
mod prompts;
mod region;
mod report;
mod saved;
mod screen;
mod session;
mod sessions;
mod shell;
mod status;
mod task_commands;
mod task_list;
mod terminal;
mod text;
mod turns;
mod whole_session;

use std::{
    io::{IsTerminal, stdin},
    process::ExitCode,
};

use clap::Parser;

use args::{Args, Command};
use endpoint::{DEMO_PROMPT, Endpoint};
use failure::Failure;
use interrupt::Interrupts;
use prompts::Prompts;
use screen::Screen;
use shell::resume_command;
use terminal::unwritten;
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
        Some(Command::Report(how)) => return report::write(how).await,
        Some(Command::Sessions(listed)) => return sessions::print(listed.place()).await,
        None => {}
    }
    let mut interrupts =
        Interrupts::listen().map_err(|error| Failure::Turn(format!("cannot listen for Ctrl-C: {error}")))?;
    let endpoint = Endpoint::choose(&args).await?;
    let opened = tokio::select! {
        biased;
        () = interrupts.next() => {
            let cancelled = || Failure::Turn("cancelled before the session was open".to_owned());
            return Err(interrupts.leaving().map_or_else(cancelled, Failure::Told));
        }
        opened = session::open(&args, &endpoint) => opened?,
    };
    let screen = Screen::new(args.output, opened.pod.tasks());
    screen.opened(&opened, &endpoint);

    let demo_prompt = endpoint.demo.is_some().then(|| DEMO_PROMPT.to_owned());
    let outcome = if args.prompts.is_empty() && stdin().is_terminal() {
        interactive::run(&opened, &screen, &mut interrupts, demo_prompt).await
    } else {
        let prompts = match args.prompts.clone() {
            none if none.is_empty() => Prompts::piped(demo_prompt),
            given => Prompts::given(given),
        };
        run_prompts(&opened.pod, &screen, &mut interrupts, prompts, args.keep_going).await
    };
    let cost = opened.pod.cost();
    let resume = resume_command(&args, &endpoint, &opened);
    // one more than it took to get here
    interrupts.forget();
    let closed = tokio::select! {
        biased;
        () = interrupts.next() => Err(Failure::Turn("left before everything was stored".to_owned())),
        closed = opened.pod.close() => closed.map_err(|error| Failure::Turn(error.to_string())),
    };
    screen.closed(&cost, &opened.place, &resume);
    match interrupts.leaving() {
        Some(code) => Err(Failure::Told(code)),
        None => outcome.and(closed).and_then(|()| unwritten()),
    }
}
