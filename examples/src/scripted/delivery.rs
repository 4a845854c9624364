use std::{collections::VecDeque, io, pin::Pin, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio::{sync::watch, task::yield_now, time::sleep};

use super::gate::Gate;

/// What comes after the last byte of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The body ends as it should.
    #[default]
    Close,
    /// The connection is cut in the middle of the body: the client waits for more and finds the end of the connection.
    Truncate,
    /// Nothing more comes and the connection stays open until the client or the server goes.
    Hang,
}

/// How a body reaches the client.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    pub(super) cut: Cut,
    pub(super) end: End,
    pub(super) before_reply: Vec<Gate>,
    pub(super) before_chunk: Vec<(usize, Gate)>,
    pub(super) pace: Duration,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Cut {
    #[default]
    AsRendered,
    At(Vec<usize>),
    Every(usize),
}

pub(super) type Body = StreamBody<Pin<Box<dyn Stream<Item = io::Result<Frame<Bytes>>> + Send>>>;

impl Delivery {
    /// The body that sends these parts. `hang_up` is dropped when all went out, or when the client is gone.
    pub(super) fn body(self, parts: Vec<Bytes>, hang_up: HangUp) -> Body {
        let sending = Sending { chunks: self.cut.apply(parts), sent: 0, delivery: self, hang_up };
        StreamBody::new(Box::pin(stream::unfold(sending, Sending::next)))
    }
}

impl Cut {
    fn apply(&self, parts: Vec<Bytes>) -> VecDeque<Bytes> {
        let whole = || Bytes::from(parts.concat());
        let chunks = match self {
            Cut::AsRendered => parts,
            Cut::Every(size) => {
                let whole = whole();
                cut_at(&whole, (*size..whole.len()).step_by(*size))
            }
            Cut::At(offsets) => {
                let mut offsets = offsets.clone();
                offsets.sort_unstable();
                cut_at(&whole(), offsets)
            }
        };
        chunks.into_iter().filter(|chunk| !chunk.is_empty()).collect()
    }
}

fn cut_at(whole: &Bytes, offsets: impl IntoIterator<Item = usize>) -> Vec<Bytes> {
    let mut rest = whole.clone();
    let mut chunks = Vec::new();
    for offset in offsets {
        let start = whole.len() - rest.len();
        chunks.push(rest.split_to((offset - start).min(rest.len())));
    }
    chunks.push(rest);
    chunks
}

struct Sending {
    chunks: VecDeque<Bytes>,
    sent: usize,
    delivery: Delivery,
    hang_up: HangUp,
}

impl Sending {
    async fn next(mut self) -> Option<(io::Result<Frame<Bytes>>, Self)> {
        // hyper flushes what it has only when the body is not ready at once.
        yield_now().await;
        for (index, gate) in &self.delivery.before_chunk {
            if *index == self.sent {
                gate.pass().await;
            }
        }
        if self.sent > 0 && !self.delivery.pace.is_zero() {
            sleep(self.delivery.pace).await;
        }
        if let Some(chunk) = self.chunks.pop_front() {
            self.sent += 1;
            if self.chunks.is_empty() && self.delivery.end == End::Close {
                self.hang_up.disarm();
            }
            return Some((Ok(Frame::data(chunk)), self));
        }
        match self.delivery.end {
            End::Close => None,
            End::Truncate => {
                self.hang_up.disarm();
                Some((Err(io::Error::other("the script cuts the connection here")), self))
            }
            End::Hang => std::future::pending().await,
        }
    }
}

/// Counts a reply that was dropped before its end.
pub(super) struct HangUp(Option<watch::Sender<usize>>);

impl HangUp {
    pub(super) fn new(count: &watch::Sender<usize>) -> Self {
        Self(Some(count.clone()))
    }

    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.send_modify(|count| *count += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_anywhere() {
        let parts = vec![Bytes::from("abc"), Bytes::new(), Bytes::from("def")];
        let cut = |cut: Cut| Vec::from(cut.apply(parts.clone()));
        assert_eq!(cut(Cut::AsRendered), ["abc", "def"]);
        assert_eq!(cut(Cut::Every(4)), ["abcd", "ef"]);
        assert_eq!(cut(Cut::Every(9)), ["abcdef"]);
        assert_eq!(cut(Cut::At(vec![5, 0, 1, 1, 77])), ["a", "bcde", "f"]);
        assert!(Cut::Every(1).apply(Vec::new()).is_empty());
    }
}
