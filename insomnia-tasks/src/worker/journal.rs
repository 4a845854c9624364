use std::error::Error;

use async_trait::async_trait;

use super::LearnedDialect;
use crate::{Item, wire::Usage};

/// Where the loop records what it commits. The order is: commit, flush, send.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot record what a loop commits",
    note = "use `NoJournal`, or implement `Journal`; a `Pod` records into its session by itself"
)]
pub trait Journal: Send + Sync + 'static {
    /// Takes in a committed item. Never blocks and cannot fail: what cannot be written is told by the next flush.
    fn commit(&self, item: &Item, turn: u64);

    /// Takes in an answer of the model, with the tokens that its request cost as far as the server told them.
    fn commit_answer(&self, answer: &Item, turn: u64, usage: Option<Usage>) {
        let _ = usage;
        self.commit(answer, turn);
    }

    /// Takes in a change of dialect, so that a resumed session starts with it. Like a commit it waits for the next flush.
    fn dialect(&self, learned: &LearnedDialect) {
        let _ = learned;
    }

    /// Takes in a compaction: this summary is sent in place of the first `tail` items, counted from the first that was
    /// resumed or committed. Returns the text that the model gets, which may say more than the summary.
    fn compact(&self, summary: &str, tail: usize) -> String {
        let _ = tail;
        summary.to_owned()
    }

    /// Takes in a compaction with the tokens that the request for its summary cost, as far as the server told them. The rest is
    /// as for [`compact`](Self::compact).
    fn compact_answer(&self, summary: &str, tail: usize, usage: Option<Usage>) -> String {
        let _ = usage;
        self.compact(summary, tail)
    }

    /// Makes everything durable that was committed before this call.
    ///
    /// # Errors
    /// If that cannot be promised. What was committed stays queued, so that a later flush can write it.
    async fn flush(&self) -> Result<(), JournalError>;

    /// Says that the owner is alive, and asks whether it still is the owner. The loop does so before a request that no flush
    /// has anything to write for: one that is tried again, or that asks for a summary.
    ///
    /// # Errors
    /// If somebody else has taken over, or that cannot be found out. Nothing is sent then.
    async fn renew(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Why a journal could not be written.
pub type JournalError = Box<dyn Error + Send + Sync>;

/// The journal of a session that lives in memory only.
#[derive(Clone, Copy, Debug)]
pub struct NoJournal;

#[async_trait]
impl Journal for NoJournal {
    fn commit(&self, _: &Item, _: u64) {}

    async fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}
