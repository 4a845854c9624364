use bytes::{Bytes, BytesMut};
use zlib_rs::{Inflate, InflateFlush, Status};

/// What is unpacked in one go, so that a small piece cannot become a huge one.
const PIECE: usize = 64 * 1024;

/// Unpacks a gzip stream as it comes.
pub(super) struct Gunzip {
    state: Inflate,
    packed: Bytes,
    place: Place,
    /// The last piece left no room, so there may be more without further input.
    full: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Within,
    /// Behind a whole member. The format allows several.
    Between,
}

/// Why bytes are no whole gzip stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GunzipError {
    #[error("the reply's gzip is damaged: {0}")]
    Damaged(&'static str),
    #[error("the reply's gzip ends before its end")]
    Cut,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self { state: member(), packed: Bytes::new(), place: Place::Start, full: false }
    }

    /// Takes the next packed bytes, once [`next`](Self::next) has none left.
    pub(super) fn push(&mut self, packed: Bytes) {
        self.packed = packed;
    }

    /// The next bytes of what was pushed.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, GunzipError> {
        while self.full || !self.packed.is_empty() {
            if self.place == Place::Between {
                if !self.packed.starts_with(&[0x1f]) {
                    // padding, which is no part of the reply
                    self.packed.clear();
                    continue;
                }
                self.state = member();
            }
            self.place = Place::Within;
            let mut out = BytesMut::zeroed(PIECE);
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(&self.packed, &mut out, InflateFlush::SyncFlush);
            let status = status.map_err(|error| GunzipError::Damaged(error.as_str()))?;
            let read = usize::try_from(self.state.total_in() - read).unwrap_or(usize::MAX);
            let written = usize::try_from(self.state.total_out() - written).unwrap_or(usize::MAX);
            let _ = self.packed.split_to(read.min(self.packed.len()));
            self.full = written >= PIECE && status != Status::StreamEnd;
            if status == Status::StreamEnd {
                self.place = Place::Between;
            } else if read == 0 && written == 0 && !self.packed.is_empty() {
                return Err(GunzipError::Damaged("it cannot be read on"));
            }
            if written > 0 {
                out.truncate(written);
                return Ok(Some(out.freeze()));
            }
        }
        Ok(None)
    }

    /// To be asked when no more packed bytes come. Nothing at all is a whole stream too.
    pub(super) fn finish(&self) -> Result<(), GunzipError> {
        if self.place == Place::Within { Err(GunzipError::Cut) } else { Ok(()) }
    }
}

/// A window of 32 KB; the 16 stands for the header of gzip.
fn member() -> Inflate {
    Inflate::new(true, 16 + 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gzip -n` of `ok`.
    const OK: [u8; 22] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 6, 0, 71, 221, 220, 121, 2, 0, 0, 0];

    fn unpacked(packed: &[u8], size: usize) -> Result<Vec<u8>, GunzipError> {
        let (mut gunzip, mut out) = (Gunzip::new(), Vec::new());
        for piece in packed.chunks(size) {
            gunzip.push(Bytes::copy_from_slice(piece));
            while let Some(bytes) = gunzip.next()? {
                assert!(!bytes.is_empty() && bytes.len() <= PIECE);
                out.extend_from_slice(&bytes);
            }
        }
        gunzip.finish().map(|()| out)
    }

    /// A gzip stream of so many zeros.
    fn zeros(length: usize) -> Vec<u8> {
        let level = zlib_rs::DeflateConfig { window_bits: 16 + 15, ..Default::default() };
        let mut out = vec![0; 1024 + length / 100];
        let (packed, code) = zlib_rs::compress_slice(&mut out, &vec![0; length], level);
        assert_eq!(code, zlib_rs::ReturnCode::Ok);
        packed.to_vec()
    }

    #[test]
    fn pieces_of_any_size() {
        for size in 1..=OK.len() {
            assert_eq!(unpacked(&OK, size).unwrap(), b"ok");
        }
        assert_eq!(unpacked(&[], 1).unwrap(), b"");
    }

    #[test]
    fn several_members_and_padding() {
        for size in [1, 21, 22, 23, 100] {
            assert_eq!(unpacked(&[OK, OK].concat(), size).unwrap(), b"okok");
            assert_eq!(unpacked(&[&OK[..], &[0; 9]].concat(), size).unwrap(), b"ok");
        }
    }

    #[test]
    fn much_from_little_comes_in_pieces() {
        let packed = zeros(10_000_000);
        assert!(packed.len() < 50_000);
        for size in [1000, packed.len()] {
            assert_eq!(unpacked(&packed, size).unwrap(), vec![0; 10_000_000]);
        }
    }

    #[test]
    fn damage_and_a_missing_end_are_told() {
        for length in 1..OK.len() {
            assert_eq!(unpacked(&OK[..length], 7), Err(GunzipError::Cut), "{length}");
        }
        for place in [0, 1, 2, 10, 14, 15, 18] {
            let mut damaged = OK;
            damaged[place] ^= 0x55;
            assert!(unpacked(&damaged, 100).is_err(), "{place}");
        }
        assert!(matches!(unpacked(b"{\"choices\":[]}", 100), Err(GunzipError::Damaged(_))));
    }
}
