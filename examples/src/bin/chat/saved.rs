//! `chat tasks` and `chat history`: a look at a session, which may be in use meanwhile.

use std::path::Path;

use insomnia_tasks::session::Session;

use crate::{
    failure::Failure,
    terminal::{note, visible, write_json},
};

pub(crate) fn print_tasks(folder: &Path) -> Result<(), Failure> {
    let tasks = read(folder)?.tasks().list();
    let lines = tasks.iter().map(|task| serde_json::to_string(task).unwrap_or_default());
    print_array(lines)
}

pub(crate) fn print_history(folder: &Path) -> Result<(), Failure> {
    print_array(read(folder)?.items().iter().map(|item| item.json().to_owned()))
}

fn read(folder: &Path) -> Result<Session, Failure> {
    let session = Session::read(folder).map_err(|error| Failure::Session(error.to_string()))?;
    for damage in session.damage() {
        note!("warning: {}", visible(&damage.to_string()));
    }
    Ok(session)
}

/// A JSON array with one element a line; the elements are JSON already.
fn print_array(elements: impl Iterator<Item = String>) -> Result<(), Failure> {
    let elements: Vec<_> = elements.collect();
    let array = if elements.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", elements.join(",\n")) };
    match write_json(&array) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Turn(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
