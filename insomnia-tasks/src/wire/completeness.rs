/// Whether the JSON read so far is whole, kept while it grows, so that asking costs nothing.
#[derive(Debug, Default)]
pub(super) struct Completeness {
    depth: usize,
    in_string: bool,
    escaped: bool,
    complete: bool,
}

impl Completeness {
    /// Reads the next part.
    pub(super) fn read(&mut self, part: &str) {
        for byte in part.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        self.complete = self.depth == 0;
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ if byte.is_ascii_whitespace() => continue,
                _ => {}
            }
            self.complete = self.depth == 0 && matches!(byte, b'}' | b']');
        }
    }

    /// Whether a value has ended and no other one has begun.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_values_over_parts() {
        let mut read = Completeness::default();
        for (part, complete) in
            [("", false), ("{\"a", false), ("}\\\"\"", false), (":[1", false), ("]} ", true), ("{", false), ("}", true)]
        {
            read.read(part);
            assert_eq!(read.is_complete(), complete, "{part}");
        }
        read.read("x");
        assert!(!read.is_complete());
    }
}
