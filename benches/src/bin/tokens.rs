//! Writes `docs/TOKENS.md`: what tools and reminders cost in tokens of o200k, beside the published sizes of others.

use std::{fmt::Write, fs, path::Path};

use insomnia_tasks::{
    Toolbox,
    reminder::{TASKS_SHOWN, reminder_text},
    task::{TaskStore, tools::TaskToolbox},
};
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published: Value = serde_json::from_str(&fs::read_to_string(here.join("published-tokens.json"))?)?;
    let tokenizer = tiktoken_rs::o200k_base()?;
    let tokens = |text: &str| tokenizer.encode_ordinary(text).len();
    let mut page = "# What it costs in tokens\n\nWritten by `just tokens`, with the o200k tokenizer; the sizes of others are as published and stand in \
        `benches/published-tokens.json`. A test holds the limits. Definitions are in every request; a reminder is in every request from the one that it \
        was made for. Both stand at the same place each time, so [prompt caches](prompt-caches.md) keep them.\n"
        .to_owned();
    let table = |page: &mut String, title: &str, ours: Vec<(String, usize, &str)>| -> Result<(), Failure> {
        writeln!(page, "\n## {title}\n\n| what | tokens | at most | source |\n|---|---|---|---|")?;
        for (what, cost, most) in ours {
            writeln!(page, "| {what} | {cost} | {most} | this crate |")?;
        }
        for row in published[title.to_lowercase()].as_array().into_iter().flatten() {
            let cell = |index: usize| row[index].as_str().unwrap_or_default();
            writeln!(page, "| {} | {} | | {} |", cell(0), cell(1), cell(2))?;
        }
        Ok(())
    };
    let definitions = TaskToolbox::definitions();
    let mut tools: Vec<_> =
        definitions.iter().map(|tool| (format!("`{}`", tool.name()), tokens(tool.raw().get()), "")).collect();
    tools.push(("all four".to_owned(), tokens(&serde_json::to_string(&definitions)?), "400"));
    table(&mut page, "Tools", tools)?;
    let mut reminders = Vec::new();
    for (count, most) in [(1, ""), (5, "110"), (10, ""), (175, "250")] {
        let tasks = TaskStore::new();
        for number in 1..=count {
            tasks.create(format!("Port module {number} to the new interface"), "")?;
        }
        let text = reminder_text(&tasks.active(TASKS_SHOWN), tasks.counts());
        let plural = if count == 1 { "" } else { "s" };
        reminders.push((format!("reminder, {count} task{plural}"), tokens(&text), most));
    }
    table(&mut page, "Reminders", reminders)?;
    fs::write(here.join("../docs/TOKENS.md"), page)?;
    Ok(())
}
