//! A message that the server sends out of turn. After it nothing on the connection can be told from what came before, so the
//! connection counts as lost: what was asked is asked again on another one, and happens once.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use insomnia_tasks::session::{
    Storage, StorageErrorKind,
    postgres::{PostgresOptions, PostgresSessions},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    sync::mpsc,
};

use crate::{
    server::server,
    storage::{entry, lines},
};

/// A message of the protocol: a letter, the length, the rest.
fn message(letter: u8, rest: &[u8]) -> Vec<u8> {
    let length = u32::try_from(rest.len() + 4).unwrap();
    [&[letter], &length.to_be_bytes()[..], rest].concat()
}

fn error(severity: &str, state: &str) -> Vec<u8> {
    message(b'E', format!("S{severity}\0V{severity}\0C{state}\0Mout of turn\0\0").as_bytes())
}

/// One column that is null.
const NULL: &[u8] = b"\0\x01\xff\xff\xff\xff";

/// Whether an append may fail for it, and the message.
fn strays() -> Vec<(bool, &'static str, Vec<u8>)> {
    vec![
        (false, "ready for query", message(b'Z', b"I")),
        (false, "ready in a transaction", message(b'Z', b"T")),
        (false, "a row", message(b'D', NULL)),
        (false, "the end of a command", message(b'C', b"SELECT 1\0")),
        (false, "no data", message(b'n', b"")),
        (false, "an empty query", message(b'I', b"")),
        (false, "authenticated", message(b'R', &[0; 4])),
        (false, "a key", message(b'K', &[0; 8])),
        (false, "the begin of a copy", message(b'G', &[0; 3])),
        (false, "no message at all", message(b'?', b"")),
        (false, "a length that is none", vec![b'D', 0, 0, 0, 1]),
        // the server hangs up, for whatever reason
        (false, "an idle transaction", error("FATAL", "25P03")),
        (false, "a conflict with recovery", error("FATAL", "40001")),
        (false, "a panic", error("PANIC", "XX000")),
        // these may come at any time
        (false, "a notice", message(b'N', b"SNOTICE\0C00000\0Mby the way\0\0")),
        (false, "a parameter", message(b'S', b"application_name\0other\0")),
        (false, "a notification", message(b'A', b"\0\0\0\x01channel\0payload\0")),
        // which looks like an answer
        (true, "an error", error("ERROR", "22012")),
    ]
}

/// A message, and how many pass before it.
type Armed = Arc<Mutex<Option<(usize, Vec<u8>)>>>;

/// Passes messages on, and puts one of its own between.
struct Proxy {
    port: u16,
    armed: Armed,
    /// To the clients of all connections.
    clients: Arc<Mutex<Vec<mpsc::UnboundedSender<Vec<u8>>>>>,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    async fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self { port, armed: Arc::default(), clients: Arc::default(), connections: Arc::default() };
        let (armed, clients) = (Arc::clone(&proxy.armed), Arc::clone(&proxy.clients));
        let connections = Arc::clone(&proxy.connections);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (from_server, mut to_server) = server.into_split();
                let (messages, mut outgoing) = mpsc::unbounded_channel::<Vec<u8>>();
                clients.lock().unwrap().push(messages.clone());
                tokio::spawn(async move {
                    let _ = copy(&mut from_client, &mut to_server).await;
                });
                tokio::spawn(down(from_server, messages, Arc::clone(&armed)));
                tokio::spawn(async move {
                    while let Some(message) = outgoing.recv().await {
                        if message.is_empty() || to_client.write_all(&message).await.is_err() {
                            break;
                        }
                    }
                });
            }
        });
        proxy
    }

    /// This one before the message that comes after so many.
    fn arm(&self, passes: usize, stray: &[u8]) {
        *self.armed.lock().unwrap() = Some((passes, stray.to_vec()));
    }

    fn disarm(&self) -> bool {
        self.armed.lock().unwrap().take().is_some()
    }

    /// This one at once, while nothing is asked.
    fn send(&self, stray: &[u8]) {
        for client in self.clients.lock().unwrap().iter() {
            let _ = client.send(stray.to_vec());
        }
    }
}

/// The server's messages, one by one. An empty one is the end.
async fn down(mut from: OwnedReadHalf, to: mpsc::UnboundedSender<Vec<u8>>, armed: Armed) -> Option<()> {
    loop {
        let mut head = [0; 5];
        if from.read_exact(&mut head).await.is_err() {
            return to.send(Vec::new()).ok();
        }
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let mut whole = head.to_vec();
        whole.resize(length + 1, 0);
        if from.read_exact(&mut whole[5..]).await.is_err() {
            return to.send(Vec::new()).ok();
        }
        let stray = {
            let mut armed = armed.lock().unwrap();
            match armed.as_mut() {
                Some((left @ 1.., _)) => {
                    *left -= 1;
                    None
                }
                _ => armed.take().map(|(_, stray)| stray),
            }
        };
        to.send(stray.into_iter().flatten().chain(whole).collect()).ok()?;
    }
}

async fn through(proxy: &Proxy, database: &str) -> PostgresSessions {
    let url = format!("postgres://tester@127.0.0.1:{}/{database}?sslmode=disable", proxy.port);
    PostgresSessions::connect(&url).unwrap().patience(Duration::from_secs(2))
}

#[tokio::test]
async fn within_an_answer() {
    let server = server!();
    server.sessions().migrate().await.unwrap();
    let tried = strays().into_iter().enumerate().map(async |(number, (may_fail, what, stray))| {
        let proxy = Proxy::start(server.port).await;
        let sessions = through(&proxy, "postgres").await;
        let name = format!("stray-{number}");
        let store = sessions.open(&name, PostgresOptions::new()).await.unwrap().store;
        let (mut asked, mut passes) = (Vec::new(), 0);
        // parsed, bound, two of what comes in and goes out, a row, the end of it, ready
        loop {
            let entry = entry(passes + 1, what);
            asked.push(entry.to_json().unwrap());
            store.append(&entry);
            proxy.arm(usize::try_from(passes).unwrap(), &stray);
            if let Err(error) = store.flush().await {
                assert!(may_fail && error.kind() == StorageErrorKind::Io, "{what}, {passes}: {error}");
                assert!(error.to_string().contains("out of turn (22012)"), "{error}");
                store.flush().await.unwrap();
            }
            let kept = server.sessions().read_records(&name).await.unwrap();
            assert_eq!(lines(&kept), asked, "{what} after {passes} messages");
            if proxy.disarm() {
                break;
            }
            passes += 1;
        }
        assert!(passes >= 7, "{what}: only {passes} places");
        // read by way of it too, at each of the first messages
        for passes in 0..7 {
            proxy.arm(passes, &stray);
            match sessions.read_records(&name).await {
                Ok(read) => assert_eq!(lines(&read), asked, "{what} after {passes} messages"),
                Err(error) => assert!(may_fail, "{what}, {passes}: {error}"),
            }
            proxy.disarm();
        }
    });
    join_all(tried).await;
}

#[tokio::test]
async fn while_nothing_is_asked() {
    let server = server!();
    server.sessions().migrate().await.unwrap();
    let tried = strays().into_iter().enumerate().map(async |(number, (_, what, stray))| {
        let proxy = Proxy::start(server.port).await;
        let sessions = through(&proxy, "postgres").await;
        let name = format!("idle-stray-{number}");
        let store = sessions.open(&name, PostgresOptions::new()).await.unwrap().store;
        for seq in 1..=3 {
            store.append(&entry(seq, what));
            proxy.send(&stray);
            if let Err(error) = store.flush().await {
                // it may be there before the request, after it, or in time for its answer
                assert!(error.to_string().contains("out of turn (22012)"), "{what}: {error}");
                store.flush().await.unwrap();
            }
        }
        assert_eq!(server.sessions().read_records(&name).await.unwrap().entries.len(), 3, "{what}");
    });
    join_all(tried).await;
}

/// The connection is left, and the answers that are still to come on it are nobody's.
#[tokio::test]
async fn and_the_connection_is_left() {
    let server = server!();
    let proxy = Proxy::start(server.port).await;
    let sessions = through(&proxy, "postgres").await;
    let store = sessions.open("left", PostgresOptions::new()).await.unwrap().store;
    store.append(&entry(1, "x"));
    store.flush().await.unwrap();
    let before = proxy.connections.load(Ordering::Relaxed);
    proxy.arm(0, &message(b'Z', b"I"));
    store.append(&entry(2, "x"));
    store.flush().await.unwrap();
    assert!(
        !proxy.disarm() && proxy.connections.load(Ordering::Relaxed) == before + 1,
        "it stays on a broken connection"
    );
    assert_eq!(server.sessions().read_records("left").await.unwrap().entries.len(), 2);
}
