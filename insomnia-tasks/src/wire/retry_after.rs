//! How long a server asks to wait: in headers of several kinds, in fields, or only in the text of its message.

use std::time::{Duration, SystemTime};

use super::head::ReplyHead;

/// Reads a `Retry-After` value: seconds, with or without a fraction or a unit, or an HTTP date relative to `now`.
/// None if it is neither, or is a date and there is no `now`.
pub fn parse_retry_after(value: &str, now: Option<SystemTime>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(date) = httpdate::parse_http_date(value) {
        return Some(date.duration_since(now?).unwrap_or_default());
    }
    parse_wait(value)
}

/// The wait that the headers of a reply ask for.
pub(super) fn from_headers(head: &ReplyHead<'_>) -> Option<Duration> {
    let in_milliseconds = head.header("retry-after-ms").and_then(|value| seconds(value.parse::<f64>().ok()? / 1000.0));
    let asked = || parse_retry_after(head.header("retry-after")?, head.now());
    in_milliseconds.or_else(asked)
}

/// The wait until a used-up limit is reset, which is only a guess at when the next request will pass.
pub(super) fn from_reset_headers(head: &ReplyHead<'_>) -> Option<Duration> {
    let reset = |of: &str| until(head.header(&format!("x-ratelimit-reset{of}"))?, head);
    let used_up = |of: &str| head.header(&format!("x-ratelimit-remaining{of}")) == Some("0");
    let limits = ["-requests", "-tokens", ""];
    let certain = limits.iter().filter(|of| used_up(of)).filter_map(|of| reset(of)).max();
    certain.or_else(|| limits.iter().filter_map(|of| reset(of)).min())
}

/// A reset value: a wait, or a point in time since 1970 in seconds or milliseconds.
fn until(value: &str, head: &ReplyHead<'_>) -> Option<Duration> {
    const A_YEAR: u64 = 366 * 24 * 3600;
    let wait = parse_retry_after(value, head.now())?;
    if wait.as_secs() < A_YEAR {
        return Some(wait);
    }
    let point = if wait.as_secs() > 1_000 * A_YEAR { wait / 1_000 } else { wait };
    let now = head.now()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(point.saturating_sub(now))
}

/// The wait that a message names (`Please try again in 6m0s.`). The text must be lower case.
pub(super) fn from_text(text: &str) -> Option<Duration> {
    const BEFORE: [&str; 9] = [
        "try again in ",
        "retry in ",
        "retry after ",
        "try again after ",
        "retry-after: ",
        "please wait ",
        "available in ",
        "resets in ",
        "reset after ",
    ];
    BEFORE.iter().find_map(|before| parse_wait(text.split_once(before)?.1))
}

/// Reads a wait at the start of a text: `0.4`, `20ms`, `4.77s`, `6m0s`, `1 hour 5 minutes`. A bare number is seconds.
pub(super) fn parse_wait(text: &str) -> Option<Duration> {
    let mut total = None;
    let mut rest = text.trim_start();
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        // a point after the number ends the sentence
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { break };
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let Some(factor) = unit_in_seconds(unit) else {
            // a bare number is seconds, but "3 requests" is no wait
            return if total.is_none() && unit.is_empty() { seconds(number) } else { total };
        };
        let wait = total.unwrap_or(Duration::ZERO).checked_add(seconds(number * factor)?)?;
        total = Some(wait);
        rest = after.trim_start().trim_start_matches("and ").trim_start_matches(", ");
    }
    total
}

fn unit_in_seconds(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ms" | "msec" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Option<Duration> {
        Some(Duration::from_millis(milliseconds))
    }

    #[test]
    fn reads_waits() {
        for (text, want) in [
            ("0.4", ms(400)),
            ("58000", ms(58_000_000)),
            ("20ms", ms(20)),
            ("4.77s.", ms(4_770)),
            ("6m0s", ms(360_000)),
            ("1m30.5s", ms(90_500)),
            ("1 hour 5 minutes", ms(3_900_000)),
            ("2 minutes and 3 seconds.", ms(123_000)),
            ("20 seconds, then", ms(20_000)),
            ("17.", ms(17_000)),
            ("", None),
            ("-1", None),
            ("before trying", None),
            ("3 requests", None),
            ("5 s 3 requests", ms(5_000)),
            ("1e400", None),
            ("99999999999999999999999999", None),
        ] {
            assert_eq!(parse_wait(text), want, "{text}");
        }
    }

    #[test]
    fn reads_dates_relative_to_now() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        assert_eq!(parse_retry_after("Wed, 21 Oct 2026 07:28:30 GMT", Some(now)), ms(30_000));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2026 07:27:00 GMT", Some(now)), ms(0));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2026 07:28:30 GMT", None), None);
        let headers = [("Date", "Wed, 21 Oct 2026 07:28:00 GMT"), ("Retry-After", "Wed, 21 Oct 2026 07:29:00 GMT")];
        assert_eq!(from_headers(&ReplyHead::new(429).with_headers(&headers)), ms(60_000));
    }

    #[test]
    fn prefers_milliseconds_and_used_up_limits() {
        let head = |headers| from_headers(&ReplyHead::new(429).with_headers(headers));
        assert_eq!(head(&[("retry-after", "1"), ("Retry-After-Ms", "400")]), ms(400));
        let reset = |headers| from_reset_headers(&ReplyHead::new(429).with_headers(headers));
        let both = [("x-ratelimit-reset-tokens", "4.77s"), ("x-ratelimit-reset-requests", "6m0s")];
        assert_eq!(reset(&both), ms(4_770));
        let used_up = [both[0], both[1], ("x-ratelimit-remaining-requests", "0")];
        assert_eq!(reset(&used_up), ms(360_000));
        let all_used_up = [both[0], both[1], used_up[2], ("x-ratelimit-remaining-tokens", "0")];
        assert_eq!(reset(&all_used_up), ms(360_000));
    }

    #[test]
    fn reads_points_in_time() {
        let headers = [("X-RateLimit-Reset", "1760000030000"), ("date", "Thu, 09 Oct 2025 08:53:20 GMT")];
        assert_eq!(from_reset_headers(&ReplyHead::new(429).with_headers(&headers)), ms(30_000));
        assert_eq!(from_reset_headers(&ReplyHead::new(429).with_headers(&headers[..1])), None);
    }

    #[test]
    fn finds_the_wait_in_a_message() {
        assert_eq!(from_text("rate limit reached. please try again in 4.77s."), ms(4_770));
        assert_eq!(from_text("too many tokens, please wait before trying again."), None);
    }
}
