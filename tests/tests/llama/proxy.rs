use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Passes connections on to a server and keeps what was sent to it.
pub(crate) struct Proxy {
    port: u16,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    pub(crate) fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (server, record) = (server.to_owned(), Arc::clone(&sent));
        // it ends with the test's process
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (back, forth) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let record = Arc::clone(&record);
                thread::spawn(move || pass(client, forth, |bytes| record.lock().unwrap().extend_from_slice(bytes)));
                thread::spawn(move || pass(server, back, |_| {}));
            }
        });
        Self { port, sent }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Everything that was sent to the server.
    pub(crate) fn recorded(&self) -> String {
        String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, see: impl Fn(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        see(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
