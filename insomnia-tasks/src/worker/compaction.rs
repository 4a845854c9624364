use super::{Event, JournalError, TurnError, Worker, spans};
use crate::wire::{ModelError, Usage};

/// How a history is compacted: the model is asked for a summary, which is then sent in place of the older turns.
///
/// What is sent afterwards is the instructions, the summary with the open tasks, and the last turns as they were. The summary
/// is a system message right behind the instructions, part of the same message where a server takes only one. The
/// history itself stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// What the model is asked, in a user message behind the part to be summarised.
    pub prompt: String,
    /// How many of the last turns stay as they are; 2 by default. Of fewer turns than that, all but the first stay.
    pub keep_turns: usize,
}

/// When the loop compacts by itself: before a request whose predecessor filled its share of the context window, and once
/// after the server has refused a request as too long, which is then sent once more. The turn that is under way always
/// stays as it is. A compaction that fails changes nothing, and the turn goes on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutoCompaction {
    /// How it is done.
    pub how: Compaction,
    /// The size of the model's context in tokens. None leaves it at the refusals, and so does a server that reports no usage.
    /// Where it is set, streamed answers are asked for theirs, unless the server turns out to refuse that.
    pub window: Option<u64>,
    /// The share of the window, from 0 to 1, at which to compact, by the usage that the server reports; 0.8 by default.
    pub share: f64,
}

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The model's summary.
    pub summary: String,
    /// How many messages were still sent as they were and are not any more.
    pub replaced: usize,
    /// How many messages stay as they are.
    pub kept: usize,
    /// What the server says the request for the summary cost.
    pub usage: Option<Usage>,
}

/// Why nothing was compacted. All is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// There is no turn, or only the one that is under way.
    #[error("there is nothing to compact yet: have a turn first")]
    Nothing,
    /// The model call failed.
    #[error("the summary could not be had, so nothing was compacted: {0}")]
    Model(#[source] ModelError),
    /// The model answered without a text.
    #[error("the model gave no summary, so nothing was compacted; try again, or with another prompt")]
    Empty,
    /// The session could not be written.
    #[error("the session could not be stored: {0}")]
    Journal(#[source] JournalError),
}

/// What the model is asked by default.
const PROMPT: &str = "Summarise the conversation so far, for yourself: your summary will stand in place of these messages. \
    Keep what is needed to go on: what the user wants and how, what was decided and why, what was done and found out (names, \
    paths, numbers, exact texts that matter), what failed, and what comes next. The task list is kept separately. Answer with \
    the summary alone and call no tool.";

impl Default for Compaction {
    fn default() -> Self {
        Self { prompt: PROMPT.to_owned(), keep_turns: 2 }
    }
}

impl Compaction {
    /// The same with another prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// The same with so many turns kept.
    #[must_use]
    pub fn keep_turns(mut self, turns: usize) -> Self {
        self.keep_turns = turns;
        self
    }
}

impl AutoCompaction {
    /// For a model with a context of so many tokens.
    pub fn for_window(tokens: u64) -> Self {
        Self { window: Some(tokens), ..Self::after_refusals() }
    }

    /// Only after the server has refused a request as too long.
    pub fn after_refusals() -> Self {
        Self { how: Compaction::default(), window: None, share: 0.8 }
    }

    /// The same at another share of the window.
    #[must_use]
    pub fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// The same, done in another way.
    #[must_use]
    pub fn how(mut self, how: Compaction) -> Self {
        self.how = how;
        self
    }

    fn is_full(&self, usage: Usage) -> bool {
        let sum = || Some(usage.prompt_tokens?.saturating_add(usage.completion_tokens.unwrap_or(0)));
        match (self.window, usage.total_tokens.max(sum())) {
            (Some(window), Some(used)) => used as f64 >= window as f64 * self.share,
            _ => false,
        }
    }
}

impl Worker {
    /// Has the older turns summarised by the model, and sends the summary in their place from now on. `listener` is told of
    /// retries. Dropping the future leaves everything as it was.
    ///
    /// # Errors
    /// See [`CompactError`].
    pub async fn compact(
        &mut self,
        how: &Compaction,
        listener: &(dyn Fn(Event) + Send + Sync),
    ) -> Result<Compacted, CompactError> {
        let compacted = self.summarise(how, how.keep_turns, 0, listener).await?;
        self.log.journal.flush().await.map_err(CompactError::Journal)?;
        Ok(compacted)
    }

    /// After an answer: compacts if that is wanted. `in_turn` says that the current turn goes on.
    pub(super) async fn compact_if_full(
        &mut self,
        usage: Option<Usage>,
        in_turn: bool,
        listener: &(dyn Fn(Event) + Send + Sync),
    ) {
        let Some(auto) = self.settings.compaction.clone() else { return };
        // one that failed or did not help is not tried at every request
        if !usage.is_some_and(|usage| auto.is_full(usage)) || (in_turn && self.compacted_in == Some(self.log.turn)) {
            return;
        }
        self.compacted_in = Some(self.log.turn);
        self.compact_quietly(&auto.how, auto.how.keep_turns, in_turn.into(), listener).await;
    }

    /// After a refusal: whether a shorter request can be sent.
    pub(super) async fn compact_after(&mut self, error: &TurnError, listener: &(dyn Fn(Event) + Send + Sync)) -> bool {
        let too_long = error.model().is_some_and(|error| error.kind() == crate::wire::ModelErrorKind::ContextLength);
        let Some(auto) = self.settings.compaction.clone().filter(|_| too_long) else { return false };
        self.compact_quietly(&auto.how, 1, 1, listener).await
    }

    async fn compact_quietly(
        &mut self,
        how: &Compaction,
        keep: usize,
        least: usize,
        listener: &(dyn Fn(Event) + Send + Sync),
    ) -> bool {
        match self.summarise(how, keep, least, listener).await {
            Ok(compacted) => listener(Event::Compacted(compacted)),
            Err(CompactError::Nothing) => return false,
            Err(error) => {
                // a message may quote what the server said
                let kind = match &error {
                    CompactError::Model(error) => spans::kind(error),
                    CompactError::Journal(_) => "Journal".to_owned(),
                    _ => "Empty".to_owned(),
                };
                tracing::warn!(kind, "the history was not compacted");
                listener(Event::NotCompacted { error: error.to_string() });
                return false;
            }
        }
        true
    }

    async fn summarise(
        &mut self,
        how: &Compaction,
        keep: usize,
        least: usize,
        listener: &(dyn Fn(Event) + Send + Sync),
    ) -> Result<Compacted, CompactError> {
        let tail = self.log.tail(keep, least).ok_or(CompactError::Nothing)?;
        self.log.journal.renew().await.map_err(CompactError::Journal)?;
        self.log.ask_about(tail, &how.prompt);
        let asking = AskedAgain(self);
        let relevant = |event: Event| {
            if matches!(event, Event::Retrying { .. } | Event::DialectChanged(_)) {
                listener(event);
            }
        };
        let answer = asking.0.ask(&relevant).await;
        drop(asking);
        let answer = answer.map_err(|error| match error {
            TurnError::Journal(error) => CompactError::Journal(error),
            TurnError::Model(error) => CompactError::Model(error),
            TurnError::RequestLimit { .. } => CompactError::Empty,
        })?;
        let summary = answer.message.text().unwrap_or_default().trim().to_owned();
        if summary.is_empty() {
            return Err(CompactError::Empty);
        }
        let replaced = tail - self.log.summarised();
        self.log.compact(&summary, tail, answer.usage);
        let kept = self.log.history.known() - tail;
        tracing::info!(replaced, kept, "older messages are sent as a summary from here on");
        Ok(Compacted { summary, replaced, kept, usage: answer.usage })
    }
}

/// Lets requests carry the conversation again, however the question for the summary ends.
struct AskedAgain<'a>(&'a mut Worker);

impl Drop for AskedAgain<'_> {
    fn drop(&mut self) {
        self.0.log.asked();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_full_by_whatever_the_server_counts() {
        let auto = AutoCompaction::for_window(100);
        let usage = |prompt_tokens, completion_tokens, total_tokens| Usage {
            prompt_tokens,
            completion_tokens,
            total_tokens,
            ..Usage::default()
        };
        for full in [
            usage(Some(79), Some(1), None),
            usage(None, None, Some(80)),
            usage(Some(80), Some(9), Some(1)),
            usage(Some(u64::MAX), Some(u64::MAX), None),
        ] {
            assert!(auto.is_full(full), "{full:?}");
        }
        for room in [usage(Some(78), Some(1), Some(79)), usage(None, Some(99), None), Usage::default()] {
            assert!(!auto.is_full(room), "{room:?}");
        }
        assert!(!AutoCompaction::after_refusals().is_full(usage(Some(u64::MAX), None, None)));
    }
}
