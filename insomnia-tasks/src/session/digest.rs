//! SHA-256, in hex. Where TLS brings aws-lc-rs it is that one, which uses what the processor has for it, and else a small crate
//! that needs no C compiler.

#[cfg(feature = "rustls")]
use aws_lc_rs::digest::{Context, SHA256};

/// A digest of what comes piece by piece.
pub(super) struct Sha256 {
    #[cfg(feature = "rustls")]
    state: Context,
    #[cfg(not(feature = "rustls"))]
    state: hmac_sha256::Hash,
}

impl Sha256 {
    /// The digest of one piece.
    pub(super) fn of(bytes: impl AsRef<[u8]>) -> String {
        let mut digest = Self::new();
        digest.update(bytes);
        digest.finish()
    }

    pub(super) fn new() -> Self {
        #[cfg(feature = "rustls")]
        let state = Context::new(&SHA256);
        #[cfg(not(feature = "rustls"))]
        let state = hmac_sha256::Hash::new();
        Self { state }
    }

    pub(super) fn update(&mut self, bytes: impl AsRef<[u8]>) {
        #[cfg(feature = "rustls")]
        self.state.update(bytes.as_ref());
        #[cfg(not(feature = "rustls"))]
        self.state.update(bytes);
    }

    /// 64 lower-case digits.
    pub(super) fn finish(self) -> String {
        #[cfg(feature = "rustls")]
        let bytes = self.state.finish();
        #[cfg(not(feature = "rustls"))]
        let bytes = self.state.finalize();
        bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digests_that_the_standard_gives() {
        let of = |text: &str| Sha256::of(text);
        assert_eq!(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(of(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }

    #[test]
    fn where_the_pieces_end_does_not_matter() {
        let bytes: Vec<u8> = (0..1000u32).map(|number| number as u8).collect();
        for size in [1, 7, 63, 64, 65, 999] {
            let mut digest = Sha256::new();
            bytes.chunks(size).for_each(|piece| digest.update(piece));
            assert_eq!(digest.finish(), Sha256::of(&bytes), "{size}");
        }
    }
}
