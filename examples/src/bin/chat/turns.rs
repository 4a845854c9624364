use std::sync::{Mutex, PoisonError};

use insomnia_tasks::{Pod, worker::Event};

use crate::{failure::Failure, prompts::Prompts, screen::Screen};

/// Runs prompts one after another. A failed turn ends it, or with `keep_going` only its success.
pub(crate) async fn run_prompts(
    pod: &Pod,
    screen: &Screen,
    mut prompts: Prompts,
    keep_going: bool,
) -> Result<(), Failure> {
    let mut outcome = Ok(());
    while let Some(prompt) = prompts.next().await {
        if let Err(ended) = run_turn(pod, screen, &prompt).await {
            outcome = Err(Failure::Shown);
            if ended == Ended::Cancelled || !keep_going {
                break;
            }
        }
    }
    outcome
}

/// How a turn ended without an answer. It has been shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Failed,
    Cancelled,
}

/// Runs one turn and shows it; Ctrl-C cancels the turn.
pub(crate) async fn run_turn(pod: &Pod, screen: &Screen, prompt: &str) -> Result<(), Ended> {
    screen.turn_started(prompt);
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
        outcome = pod.run_with(prompt, listener) => Some(outcome),
        _ = tokio::signal::ctrl_c() => None,
    };
    match outcome {
        Some(Ok(turn)) => {
            screen.turn_finished(&turn);
            Ok(())
        }
        Some(Err(error)) => {
            screen.turn_failed(&error);
            Err(Ended::Failed)
        }
        None => {
            screen.turn_cancelled();
            Err(Ended::Cancelled)
        }
    }
}
