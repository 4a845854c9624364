use std::time::Duration;

use crate::wire::ModelError;

/// When a failed model call is tried again. Calls that are known to be refused never are, whatever this says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// How many times after the first; 2 by default.
    pub retries: u32,
    /// The wait before the first retry; it doubles each time, with jitter. Half a second by default.
    pub base: Duration,
    /// The longest wait that this crate chooses itself; 8 seconds by default.
    pub longest: Duration,
    /// The longest wait that is obeyed when the server names one; 60 seconds by default. Beyond it the turn ends with the
    /// error, which tells the wait.
    pub obeyed: Duration,
    /// Whether to try again after part of an answer was shown; not by default, since the listener saw text that is then void.
    pub after_partial: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 2,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            obeyed: Duration::from_secs(60),
            after_partial: false,
        }
    }
}

impl RetryPolicy {
    /// No second try.
    pub fn never() -> Self {
        Self { retries: 0, ..Self::default() }
    }

    /// How long to wait before the next try after `failed` failed ones; none if there is to be no next try. `jitter` is from 0 to 1.
    pub(super) fn wait(&self, failed: u32, error: &ModelError, shown: bool, jitter: f64) -> Option<Duration> {
        if failed > self.retries || !error.is_retryable() || (shown && !self.after_partial) {
            return None;
        }
        if let Some(wait) = error.retry_after() {
            return (wait <= self.obeyed).then_some(wait);
        }
        let doubled = self.base.saturating_mul(1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX));
        // between half and all of it, so that many clients do not come back at once
        Some(doubled.min(self.longest).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0))
    }
}
