//! `chat tasks` and `chat history`: a look at a session, which may be in use meanwhile.

use std::path::Path;

use insomnia_tasks::session::Session;

use crate::{
    failure::Failure,
    place::Place,
    terminal::{note, unwritten, visible, write_json},
};

pub(crate) async fn print_tasks(folder: &Path) -> Result<(), Failure> {
    let tasks = read(folder).await?.tasks().list();
    let lines = tasks.iter().map(|task| serde_json::to_string(task).unwrap_or_default());
    print_array(lines)
}

pub(crate) async fn print_history(folder: &Path) -> Result<(), Failure> {
    print_array(read(folder).await?.items().iter().map(|item| item.json().to_owned()))
}

async fn read(folder: &Path) -> Result<Session, Failure> {
    let session = Place::of(folder)?.read().await?;
    for damage in session.damage() {
        note!("warning: {}", visible(&damage.to_string()));
    }
    Ok(session)
}

/// A JSON array with one element a line; the elements are JSON already.
fn print_array(elements: impl Iterator<Item = String>) -> Result<(), Failure> {
    let elements: Vec<_> = elements.collect();
    let array = if elements.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", elements.join(",\n")) };
    write_json(&array);
    unwritten()
}
