use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum, value_parser};
use insomnia_tasks::{pod::ReminderPlacement, reminder::Cadence};

const AFTER_HELP: &str = "\
Exit codes: 0 all turns ended well, 1 a turn failed, 2 wrong usage, 3 the session cannot be opened.

Examples:
  chat                                                          the demo
  chat --base-url http://localhost:11434/v1 --model qwen3       a local server
  OPENAI_API_KEY=sk-... chat -p 'Plan the release' --session s  OpenAI, one prompt
  chat tasks --session s                                        what is left to do
  chat report --session s -o report.html                        the session as a page";

/// An agent that keeps its task list, on any OpenAI-compatible server.
///
/// Without an endpoint or key it talks to a built-in demo server, which follows a script.
/// Answers go to stdout, everything else to stderr.
#[derive(Debug, Parser)]
#[command(name = "chat", version, args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Run these prompts in order, then exit; without any: interactive, or one prompt per line of a pipe
    #[arg(short, long = "prompt", value_name = "TEXT", value_parser = prompt)]
    pub(crate) prompts: Vec<String>,

    /// The server's address, such as http://localhost:11434/v1; else $OPENAI_BASE_URL
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// The key; else $OPENAI_API_KEY, which other users of this machine cannot see
    #[arg(long, value_name = "KEY")]
    pub(crate) api_key: Option<String>,

    /// The model; else $OPENAI_MODEL
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// The system prompt; a resumed session keeps its own unless this is another
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// The session's folder, made if absent, resumed if present; else a new one under your data folder. Or
    /// postgres://USER@HOST:PORT/DATABASE/NAME, with the password in $PGPASSWORD
    #[arg(long, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,

    /// Requests without a task change before a reminder
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u32).range(1..))]
    pub(crate) inactivity: u32,

    /// Requests between two reminders
    #[arg(long, value_name = "M", default_value_t = 8, value_parser = value_parser!(u32).range(1..))]
    pub(crate) cooldown: u32,

    /// How reminders are sent: auto, system, developer, user, merge or off
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = |word: &str| word.parse::<ReminderPlacement>())]
    pub(crate) reminder: ReminderPlacement,

    /// Wait for whole answers
    #[arg(long)]
    pub(crate) no_stream: bool,

    /// Requests per turn
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = value_parser!(u64).range(1..))]
    pub(crate) max_requests: u64,

    /// Go on with the next prompt after a failed turn
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// What stdout gets: text, or json with one event a line
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: Output,

    /// Talk to the built-in demo server, whatever flags and environment say
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the tasks of a session as a JSON array
    Tasks(Saved),
    /// Print the messages of a session as a JSON array
    History(Saved),
    /// Write a session as a page to look at
    Report(Report),
    /// List the sessions under your data folder: when last used, turns, open tasks, size
    Sessions(Listed),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Listed {
    /// Those in a database in their place, postgres://HOST/DATABASE: when last used, entries, who has them open
    #[arg(value_name = "PLACE")]
    place: Option<PathBuf>,

    /// The same, as the other commands have it
    #[arg(long, value_name = "PLACE", hide = true, conflicts_with = "place")]
    session: Option<PathBuf>,
}

impl Listed {
    pub(crate) fn place(&self) -> Option<&Path> {
        self.place.as_deref().or(self.session.as_deref())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Saved {
    /// The session's folder, or postgres://HOST/DATABASE/NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) session: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The session's folder, or postgres://HOST/DATABASE/NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) session: PathBuf,

    /// The file to write; else, or for `-`, stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Only the picture, as SVG
    #[arg(long)]
    pub(crate) svg: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Text,
    Json,
}

fn prompt(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("a prompt needs some text") } else { Ok(text.to_owned()) }
}

impl Args {
    /// The cadence; its numbers were checked when the flags were read.
    pub(crate) fn cadence(&self) -> Cadence {
        Cadence::new(self.inactivity, self.cooldown).unwrap_or_default()
    }
}
