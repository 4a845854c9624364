//! `chat report`: a session as a page to look at, or the picture of it alone. It opens offline and asks nobody for anything.

mod entries;
mod figures;
mod lanes;
mod layout;
mod markdown;
mod model;
mod page;
mod picture;
mod read;
mod text;

#[cfg(test)]
mod tests;

use std::{fs, io, path::Path};

use crate::{
    args::Report as Args,
    failure::Failure,
    place::Place,
    terminal::{note, visible, write_text},
};

pub(crate) async fn write(args: &Args) -> Result<(), Failure> {
    let stored = Place::of(&args.session)?.read_records().await?;
    for damage in &stored.damage {
        note!("warning: {}", visible(&damage.to_string()));
    }
    let report = read::report(&stored);
    let text = if args.svg { picture::standalone(&report) } else { page::render(&report) };
    match &args.output {
        Some(path) => save(path, &text),
        None => match write_text(&text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Turn(format!("cannot write to stdout: {error}")))
            }
            _ => Ok(()),
        },
    }
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::Turn(format!("cannot write `{}`: {error}", path.display()));
    fs::write(path, text).map_err(failed)?;
    note!("wrote {} ({} KB)", visible(&path.display().to_string()), text.len().div_ceil(1_000));
    Ok(())
}
