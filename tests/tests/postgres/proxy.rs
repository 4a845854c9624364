//! A proxy between a client and the server that cuts connections at the worst moment.

use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Notify,
};

/// Where the next connection that moves is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the server gets the request.
    Request,
    /// When the server has answered, before the client gets the answer.
    Answer,
    /// As `Answer`, but the connection stays open and is silent.
    Silence,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    armed: Arc<Mutex<Option<Cut>>>,
}

impl Proxy {
    pub(crate) async fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(Mutex::new(None));
        let trap = Arc::clone(&armed);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let end = Arc::new(Notify::new());
                tokio::spawn(pump(from_client, to_server, Way::Up, Arc::clone(&trap), Arc::clone(&end)));
                tokio::spawn(pump(from_server, to_client, Way::Down, Arc::clone(&trap), end));
            }
        });
        Self { port, armed }
    }

    /// Cuts the next connection that gets there, once.
    pub(crate) fn arm(&self, cut: Cut) {
        *self.armed.lock().unwrap() = Some(cut);
    }

    /// Whether the cut is still to come; it is called off.
    pub(crate) fn disarm(&self) -> bool {
        self.armed.lock().unwrap().take().is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    way: Way,
    armed: Arc<Mutex<Option<Cut>>>,
    end: Arc<Notify>,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            () = end.notified() => break,
        };
        let Ok(length @ 1..) = read else { break };
        let cut = {
            let mut armed = armed.lock().unwrap();
            match (*armed, way) {
                (Some(Cut::Request), Way::Up) | (Some(Cut::Answer | Cut::Silence), Way::Down) => armed.take(),
                _ => None,
            }
        };
        match cut {
            Some(Cut::Silence) => continue,
            Some(_) => break,
            None if to.write_all(&buffer[..length]).await.is_err() => break,
            None => {}
        }
    }
    // the other direction ends too
    end.notify_waiters();
    end.notify_one();
}
