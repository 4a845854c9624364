use std::time::SystemTime;

/// What stood before the body of a server's reply, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct ReplyHead<'a> {
    status: u16,
    headers: &'a [(&'a str, &'a str)],
    now: Option<SystemTime>,
}

impl<'a> ReplyHead<'a> {
    /// A head with this HTTP status and no headers.
    pub fn new(status: u16) -> Self {
        Self { status, headers: &[], now: None }
    }

    /// The same with these headers; names are compared without case.
    #[must_use]
    pub fn with_headers(self, headers: &'a [(&'a str, &'a str)]) -> Self {
        Self { headers, ..self }
    }

    /// The same with the time of its arrival, for waits that a server gives as a date.
    #[must_use]
    pub fn with_now(self, now: SystemTime) -> Self {
        Self { now: Some(now), ..self }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is one of success (2xx).
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// All headers, in order.
    pub fn headers(&self) -> &'a [(&'a str, &'a str)] {
        self.headers
    }

    /// The first header of this name, trimmed.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The time that dates in this reply are relative to: the server's own clock, else the given one.
    pub(super) fn now(&self) -> Option<SystemTime> {
        self.header("date").and_then(|date| httpdate::parse_http_date(date).ok()).or(self.now)
    }
}
