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
    /// Whether to try again after a part of the answer's text was told to the listener; not by default, since what was shown
    /// is then void, as [`Event::Retrying`](super::Event::Retrying) says. Pieces of reasoning are not part of the answer and
    /// never keep a call from being tried again.
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

    /// How long to wait before the next try after `failed` failed ones; none if there is to be no next try. `jitter` is
    /// from 0 to 1.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ModelErrorKind as Kind, ReplyHead, classify};

    fn failed(kind: Kind) -> ModelError {
        ModelError::new(kind, "x")
    }

    fn limited(wait: &str) -> ModelError {
        classify(&ReplyHead::new(429).with_headers(&[("retry-after", wait)]), b"{}")
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn waits_double_up_to_the_longest() {
        let policy = RetryPolicy { retries: 10, base: MS(100), longest: MS(350), ..RetryPolicy::default() };
        let wait = |failures, jitter| policy.wait(failures, &failed(Kind::Server), false, jitter);
        assert_eq!([1, 2, 3, 10].map(|n| wait(n, 1.0)), [100, 200, 350, 350].map(|ms| Some(MS(ms))));
        assert_eq!([1, 2, 3, 10].map(|n| wait(n, 0.0)), [50, 100, 175, 175].map(|ms| Some(MS(ms))));
        assert_eq!(wait(1, 0.5), Some(MS(75)));
        let ever = RetryPolicy { retries: u32::MAX, ..policy };
        assert_eq!(ever.wait(u32::MAX, &failed(Kind::Server), false, 7.0), Some(MS(350)));
    }

    #[test]
    fn only_some_kinds_and_only_so_often() {
        let policy = RetryPolicy::default();
        let limit = Kind::RateLimited { retry_after: None };
        for kind in [limit, Kind::Server, Kind::Malformed, Kind::Interrupted, Kind::Timeout, Kind::Connect] {
            assert!(policy.wait(2, &failed(kind), false, 0.5).is_some(), "{kind:?}");
            assert_eq!(policy.wait(3, &failed(kind), false, 0.5), None, "{kind:?}");
            assert_eq!(RetryPolicy::never().wait(1, &failed(kind), false, 0.5), None, "{kind:?}");
        }
        for kind in [Kind::Auth, Kind::ContextLength, Kind::InvalidRequest, Kind::ModelNotFound, Kind::Billing] {
            assert_eq!(policy.wait(1, &failed(kind), false, 0.5), None, "{kind:?}");
        }
    }

    #[test]
    fn what_was_shown_is_not_asked_for_again_unless_allowed() {
        let mut policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, &failed(Kind::Interrupted), true, 0.5), None);
        policy.after_partial = true;
        assert!(policy.wait(1, &failed(Kind::Interrupted), true, 0.5).is_some());
        assert_eq!(policy.wait(1, &failed(Kind::Auth), true, 0.5), None);
    }

    #[test]
    fn the_servers_wait_is_obeyed_up_to_a_limit() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, &limited("0.25"), false, 0.5), Some(MS(250)));
        assert_eq!(policy.wait(1, &limited("60"), false, 0.5), Some(MS(60_000)));
        assert_eq!(policy.wait(1, &limited("60.001"), false, 0.5), None);
        assert_eq!(policy.wait(1, &limited("58000"), false, 0.5), None);
        assert!(limited("58000").to_string().contains("58000.0 s"));
    }
}
