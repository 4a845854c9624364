use bytes::Bytes;
use reqwest::header::CONTENT_ENCODING;

use super::gunzip::{Gunzip, GunzipError};

/// The body of a reply, unpacked where a server or a proxy has packed it, asked for or not.
pub(super) struct Body {
    http: reqwest::Response,
    gzip: Option<Gunzip>,
}

/// Why a body cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    // without the address, which may hold a key
    #[error(transparent)]
    Http(reqwest::Error),
    #[error(transparent)]
    Gzip(#[from] GunzipError),
}

impl Body {
    pub(super) fn new(http: reqwest::Response) -> Self {
        // a host's client that unpacks by itself takes the header away
        let encoding = http.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let packed = ["gzip", "x-gzip"].iter().any(|name| encoding.trim().eq_ignore_ascii_case(name));
        Self { http, gzip: packed.then(Gunzip::new) }
    }

    /// The next bytes; none at the end. A caller that gives up waiting can ask again.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            if let Some(bytes) = self.gzip.as_mut().map(Gunzip::next).transpose()?.flatten() {
                return Ok(Some(bytes));
            }
            let chunk = self.http.chunk().await.map_err(|error| BodyError::Http(error.without_url()))?;
            match (&mut self.gzip, chunk) {
                (Some(gzip), Some(packed)) => gzip.push(packed),
                (Some(gzip), None) => return gzip.finish().map(|()| None).map_err(BodyError::from),
                (None, chunk) => return Ok(chunk),
            }
        }
    }
}
