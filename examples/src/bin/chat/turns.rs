use std::sync::{Mutex, PoisonError};

use insomnia_tasks::{Pod, worker::Event};

use crate::{
    failure::Failure,
    interrupt::Interrupts,
    prompts::Prompts,
    screen::Screen,
    terminal::{note, unwritten, visible},
};

/// Runs prompts one after another. A failed turn ends it, or with `keep_going` only its success.
pub(crate) async fn run_prompts(
    pod: &Pod,
    screen: &Screen,
    interrupts: &mut Interrupts,
    mut prompts: Prompts,
    keep_going: bool,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    loop {
        let next = prompts.next(interrupts).await;
        let next = next.map_err(|error| Failure::Usage(format!("stdin gives no prompts: {error}; use -p TEXT")))?;
        let Some(prompt) = next else { return outcome };
        match run_turn(pod, screen, interrupts, &prompt, false).await {
            Ok(()) => {}
            Err(Ended::Failed) if keep_going => outcome = Err(Failure::Shown),
            Err(ended) => {
                match prompts.left() {
                    0 => {}
                    left if ended != Ended::Failed => note!("prompts that were not run: {left}"),
                    left => note!("prompts that were not run: {left}; with --keep-going they are"),
                }
                return Err(Failure::Shown);
            }
        }
    }
}

/// How a turn ended without an answer. It has been shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Failed,
    Cancelled,
    /// Ctrl-C came again while the turn was being cancelled, or the program was told to end.
    Left,
}

/// Runs one turn and shows it; Ctrl-C cancels the turn. `typed` if the prompt stands on the terminal already.
pub(crate) async fn run_turn(
    pod: &Pod,
    screen: &Screen,
    interrupts: &mut Interrupts,
    prompt: &str,
    typed: bool,
) -> Result<(), Ended> {
    screen.turn_started(prompt, typed);
    let changes = Mutex::new(pod.tasks().subscribe());
    let listener = |event: Event| {
        let tool_ended = matches!(event, Event::ToolFinished { .. });
        screen.event(&event);
        if tool_ended {
            let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
            let changed: Vec<_> = std::iter::from_fn(|| changes.try_next()).collect();
            if !changed.is_empty() {
                screen.tasks_changed(&changed, pod.tasks());
            }
        }
    };
    let outcome = tokio::select! {
        biased;
        () = interrupts.next() => None,
        outcome = pod.run_with(prompt, listener) => Some(outcome),
    };
    match outcome {
        Some(Ok(turn)) => {
            screen.turn_finished(&turn);
            unwritten().map_err(|failure| {
                note!("error: {}", visible(failure.message()));
                Ended::Failed
            })
        }
        Some(Err(error)) => {
            screen.turn_failed(&error);
            Err(Ended::Failed)
        }
        None if interrupts.leaving().is_some() => {
            screen.turn_cancelled();
            Err(Ended::Left)
        }
        None => {
            // what the tools have done so far is kept
            let flushed = tokio::select! {
                biased;
                () = interrupts.next() => None,
                flushed = pod.flush() => Some(flushed),
            };
            match &flushed {
                Some(Err(error)) => screen.turn_failed(error),
                _ => screen.turn_cancelled(),
            }
            Err(match flushed {
                None => Ended::Left,
                Some(Ok(())) => Ended::Cancelled,
                Some(Err(_)) => Ended::Failed,
            })
        }
    }
}
