//! Server-sent events from bytes, however these are cut. Comments and empty events are passed over.

/// Turns bytes into the data of events. A line that starts like JSON before any event makes the rest a plain body.
#[derive(Debug)]
pub(super) struct EventReader {
    line: Vec<u8>,
    after_cr: bool,
    first_line: bool,
    event: Event,
    data_lines: usize,
    any_events: bool,
    /// The reply itself, where it is a JSON body and no event stream.
    body: Option<Vec<u8>>,
    max_bytes: usize,
}

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The value of its `event:` field; empty without one.
    pub(super) name: Vec<u8>,
    /// The values of its `data:` fields, joined by line feeds.
    pub(super) data: Vec<u8>,
}

/// A line or an event has more bytes than are allowed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl EventReader {
    /// A reader that keeps at most about this many bytes.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            first_line: true,
            event: Event::default(),
            data_lines: 0,
            any_events: false,
            body: None,
            max_bytes,
        }
    }

    /// Reads on; whole events are handed over as they end.
    pub(super) fn push(&mut self, mut bytes: &[u8], on_event: &mut dyn FnMut(Event)) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.kept() + part.len() > self.max_bytes {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            if let Some((end, rest)) = rest.split_first() {
                self.after_cr = *end == b'\r';
                self.end_line(on_event);
                bytes = rest;
            } else {
                bytes = rest;
            }
        }
        Ok(())
    }

    /// Takes what is left as ended: the last line without a line feed, the last event without a blank line.
    pub(super) fn finish(mut self, on_event: &mut dyn FnMut(Event)) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line(on_event);
        }
        self.end_event(on_event);
        self.body
    }

    /// How many bytes have come of a reply that is a plain body.
    pub(super) fn body_bytes(&self) -> usize {
        let pending = if starts_like_json(&self.line) { self.line.len() } else { 0 };
        self.body.as_ref().map_or(pending, |body| body.len() + self.line.len())
    }

    fn kept(&self) -> usize {
        self.line.len() + self.event.data.len() + self.body.as_ref().map_or(0, Vec::len)
    }

    fn end_line(&mut self, on_event: &mut dyn FnMut(Event)) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.first_line) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if let Some(body) = &mut self.body {
            body.push(b'\n');
            body.append(&mut line);
        } else if line.is_empty() {
            self.end_event(on_event);
        } else {
            self.field(&line, on_event);
        }
        // the buffer is used again, unless it has grown out of measure
        if line.capacity() < 64 * 1024 {
            line.clear();
            self.line = line;
        }
    }

    fn field(&mut self, line: &[u8], on_event: &mut dyn FnMut(Event)) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.ends_unmarked(value) {
                    self.end_event(on_event);
                }
                if self.data_lines > 0 {
                    self.event.data.push(b'\n');
                }
                self.data_lines += 1;
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = value.to_vec(),
            _ if self.data_lines > 0 || !starts_like_json(line) => {}
            _ if !self.any_events => self.body = Some(line.to_vec()),
            // an error that a gateway writes into the stream as it is
            _ if is_json(line) => on_event(Event { data: line.to_vec(), ..Event::default() }),
            _ => {}
        }
    }

    /// Whether an event ends here although the blank line is missing: its one line is whole, and another one begins.
    fn ends_unmarked(&self, next: &[u8]) -> bool {
        self.data_lines == 1 && matches!(next.first(), Some(b'{' | b'[')) && is_json(&self.event.data)
    }

    fn end_event(&mut self, on_event: &mut dyn FnMut(Event)) {
        self.data_lines = 0;
        let event = std::mem::take(&mut self.event);
        let data = event.data.trim_ascii();
        if !data.is_empty() && !data.starts_with(b":") {
            self.any_events = true;
            on_event(event);
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

fn starts_like_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The events' data, and the plain body.
    fn read(chunks: &[&[u8]]) -> (Vec<String>, Option<String>) {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let mut reader = EventReader::new(1_000);
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk, &mut |event| events.push(event)).unwrap();
        }
        let body = reader.finish(&mut |event| events.push(event));
        (events.into_iter().map(|event| text(event.data)).collect(), body.map(text))
    }

    #[test]
    fn reads_every_line_ending_and_field() {
        for (stream, want) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data:a\r\n\r\ndata:b\r\n\r\n", vec!["a", "b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("data: a\ndata:  b\n\n", vec!["a\n b"]),
            ("data: a\n\ndata: b", vec!["a", "b"]),
            (": hello\n\n:\ndata:\n\ndata: : ping\n\nid: 7\nretry: 5\nevent: x\ndata: a\n\n", vec!["a"]),
            ("data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", vec!["{\"a\":1}", "{\"b\":2}", "[DONE]"]),
            ("data: {\ndata: \"a\":1}\n\n", vec!["{\n\"a\":1}"]),
            ("data: a\n\n{\"error\":1}\n{oops\ndata: b\n\n", vec!["a", "{\"error\":1}", "b"]),
            ("data\n\n", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(read(&[stream.as_bytes()]), (want.into_iter().map(str::to_owned).collect(), None), "{stream:?}");
        }
    }

    #[test]
    fn sees_a_plain_body() {
        let body = "\n: comment\n{\"a\":\n1}data: [DONE]\n\n";
        assert_eq!(read(&[body.as_bytes()]), (vec![], Some("{\"a\":\n1}data: [DONE]\n".to_owned())));
        let mut reader = EventReader::new(100);
        reader.push(b" [1", &mut |_| {}).unwrap();
        assert_eq!(reader.body_bytes(), 3);
    }

    #[test]
    fn keeps_no_more_than_allowed() {
        let mut reader = EventReader::new(100);
        for _ in 0..1_000 {
            reader.push(b"data: 0123456789\n\n: comment\n", &mut |_| {}).unwrap();
        }
        assert_eq!(reader.push(&[b'x'; 101], &mut |_| {}), Err(TooLong));
        let mut reader = EventReader::new(100);
        let all = (0..100).try_for_each(|_| reader.push(b"data: 0123456789\n", &mut |_| {}));
        assert_eq!(all, Err(TooLong));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(stream in r"(data|:|\{|a|x|\r|\n|: ?|é){0,30}", cuts in prop::collection::vec(0usize..60, 0..4)) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut start = 0;
            let chunks: Vec<_> = cuts.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect();
            prop_assert_eq!(read(&chunks), read(&[bytes]));
        }
    }
}
