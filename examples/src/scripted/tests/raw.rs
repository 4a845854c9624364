//! A client that shows what stood on the wire.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::scripted::ScriptedServer;

pub(super) const ASK: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
pub(super) const ASK_STREAM: &str = r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}"#;

pub(super) struct Raw(TcpStream);

pub(super) struct Answer {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Raw {
    /// Sends a request and asks for the connection's end after it.
    pub(super) async fn post(server: &ScriptedServer, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nX-Odd: A  b\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        Self::send(server, &[head.as_bytes(), body.as_bytes()].concat()).await
    }

    pub(super) async fn send(server: &ScriptedServer, bytes: &[u8]) -> Self {
        let address = server.base_url().replace("http://", "").replace("/v1", "");
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        Self(stream)
    }

    /// Reads until the bytes so far end with this.
    pub(super) async fn read_until(&mut self, end: &str) -> String {
        let mut seen = Vec::new();
        while !seen.ends_with(end.as_bytes()) {
            seen.push(self.0.read_u8().await.unwrap());
        }
        String::from_utf8(seen).unwrap()
    }

    /// Whether the connection ends without another byte.
    pub(super) async fn rest_is_nothing(mut self) -> bool {
        // A reset is an end too.
        self.0.read_u8().await.is_err()
    }

    /// Reads to the end of the connection.
    pub(super) async fn rest(mut self) -> Answer {
        let mut all = Vec::new();
        self.0.read_to_end(&mut all).await.unwrap();
        let end = all.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let body = all.split_off(end + 4);
        Answer { head: String::from_utf8(all).unwrap().to_lowercase(), body }
    }
}

impl Answer {
    /// The HTTP chunks of the body, and whether it ended with the chunk that says so.
    pub(super) fn chunks(&self) -> (Vec<Vec<u8>>, bool) {
        let (mut rest, mut chunks) = (self.body.as_slice(), Vec::new());
        while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            if size == 0 {
                return (chunks, true);
            }
            chunks.push(rest[end + 2..end + 2 + size].to_vec());
            rest = &rest[end + 2 + size + 2..];
        }
        (chunks, false)
    }
}
