//! What can be done with a session as a whole, at the prompt: `/compact`, `/rewind` and `/fork`.

use std::path::Path;

use insomnia_tasks::worker::Compaction;

use crate::{
    interrupt::Interrupts,
    place::{self, Place},
    screen::Screen,
    session::Opened,
    terminal::{counted, note, visible},
};

/// Carries out the command if it is one of these; whether it was.
pub(crate) async fn command(line: &str, opened: &Opened, screen: &Screen, interrupts: &mut Interrupts) -> bool {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (word, rest.trim()) {
        ("/compact", "") => compact(opened, screen, interrupts).await,
        ("/rewind", "") => rewind(opened, 1).await,
        ("/rewind", turns) => match turns.parse() {
            Ok(turns) => rewind(opened, turns).await,
            Err(_) => note!("/rewind takes a number of turns, such as /rewind 2"),
        },
        ("/fork", "") => note!("/fork takes the folder of the new session, such as /fork ../other"),
        ("/fork", folder) => fork(opened, Path::new(folder)).await,
        _ => return false,
    }
    true
}

async fn compact(opened: &Opened, screen: &Screen, interrupts: &mut Interrupts) {
    interrupts.forget();
    let how = Compaction::default();
    screen.working("summing up");
    let outcome = tokio::select! {
        biased;
        () = interrupts.next() => None,
        outcome = opened.pod.compact_with(&how, |event| screen.event(&event)) => Some(outcome),
    };
    screen.worked();
    match outcome {
        Some(Ok(compacted)) => screen.compacted(&compacted),
        Some(Err(error)) => note!("{}", visible(&error.to_string())),
        None => note!("cancelled; nothing was compacted"),
    }
}

async fn rewind(opened: &Opened, turns: u64) {
    let last = opened.pod.turn();
    let Some(turn) = last.checked_sub(turns) else {
        return note!("there is nothing before that: the session has {}", counted(last, "turn"));
    };
    match opened.pod.rewind(turn).await {
        Ok(()) if turn == 0 => note!("back at the beginning"),
        Ok(()) => note!("back at the end of turn {turn}"),
        Err(error) => note!("{}", visible(&error.to_string())),
    }
}

async fn fork(opened: &Opened, folder: &Path) {
    let forked = match Place::of(folder) {
        Ok(place) => place.fork(&opened.pod).await,
        Err(failure) => Err(failure),
    };
    let folder = place::shown(folder);
    match forked {
        Ok(()) => note!("a copy that goes its own way: chat --session {}", visible(&folder)),
        Err(failure) => note!("{}", visible(failure.message())),
    }
}
