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

use std::{fs::OpenOptions, io::Write, path::Path};

use crate::{
    args::Report as Args,
    failure::Failure,
    place::Place,
    terminal::{note, unwritten, visible, write_text},
};

pub(crate) async fn write(args: &Args) -> Result<(), Failure> {
    let stored = Place::of(&args.session)?.read_records().await?;
    for damage in &stored.damage {
        note!("warning: {}", visible(&damage.to_string()));
    }
    let report = read::report(&stored);
    let text = if args.svg { picture::standalone(&report) } else { page::render(&report) };
    match &args.output {
        Some(path) if path != Path::new("-") => save(path, &text),
        _ => {
            write_text(&text);
            unwritten()
        }
    }
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::Turn(format!("cannot write `{}`: {error}", path.display()));
    let mut new = OpenOptions::new();
    new.write(true).create(true).truncate(true);
    // the page says what the session says, which others cannot read either
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    new.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
    note!("wrote {} ({} KB)", visible(&path.display().to_string()), text.len().div_ceil(1_000));
    Ok(())
}
