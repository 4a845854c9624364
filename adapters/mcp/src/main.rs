//! The four task tools over stdio, for any MCP client.

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::Parser;
use insomnia_tasks::reminder::{Cadence, CadenceError};
use insomnia_tasks_mcp::TaskServer;
use rmcp::{ServiceExt, transport::stdio};

/// Offers a task list to an MCP client over stdin and stdout.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Folder of the session: made if absent, resumed if present
    #[arg(long, value_name = "DIR")]
    session: PathBuf,
    /// Calls of the tools without a change of a task before a reminder
    #[arg(long, value_name = "N", default_value_t = Cadence::default().inactivity())]
    inactivity: u32,
    /// Calls of the tools between two reminders
    #[arg(long, value_name = "M", default_value_t = Cadence::default().cooldown())]
    cooldown: u32,
}

// one thread, so that calls are carried out in the order in which they came in
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    let done = match cadence(&args) {
        Ok(cadence) => serve(&args, cadence).await,
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("insomnia-tasks-mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cadence(args: &Args) -> Result<Cadence, CadenceError> {
    Cadence::new(args.inactivity, args.cooldown)
}

/// Serves until the client closes stdin.
async fn serve(args: &Args, cadence: Cadence) -> Result<(), Box<dyn Error>> {
    let server = TaskServer::open(&args.session, cadence)?;
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
