use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use serde_json::json;

/// A chat-completions server that reads a request and gives the same short answer to each. It runs on threads of its own, so that
/// what it costs is not in the thread that is measured.
pub struct Server(SocketAddr);

impl Server {
    /// Gives this answer until the process ends.
    pub fn start(answer: &str) -> io::Result<Self> {
        let message = json!({"role": "assistant", "content": answer, "refusal": null});
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
        let usage = json!({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11});
        let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "bench",
            "choices": [choice], "usage": usage})
        .to_string();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let reply: Arc<str> = (head + &body).into();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let reply = reply.clone();
                // a client that hangs up is done
                thread::spawn(move || serve(stream, &reply).ok());
            }
        });
        Ok(Self(address))
    }

    /// What a client takes as its base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.0)
    }
}

fn serve(stream: TcpStream, reply: &str) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(256 * 1024, stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().map_err(io::Error::other)?;
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        io::copy(&mut (&mut reader).take(length), &mut io::sink())?;
        stream.write_all(reply.as_bytes())?;
    }
}
