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

/// What happens to the next connection that gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Before the server gets the request.
    Request,
    /// When the server has answered, before the client gets the answer.
    Answer,
    /// As `Answer`, but the connection stays open and is silent.
    Silence,
    /// The server ends the session before it gets the request, as an operator does with `pg_terminate_backend`.
    Terminate,
    /// The same, while the server is at work on the request.
    TerminateAtWork,
}

impl Cut {
    pub(crate) const ALL: [Self; 5] =
        [Self::Request, Self::Answer, Self::Silence, Self::Terminate, Self::TerminateAtWork];

    fn way(self) -> Way {
        match self {
            Self::Answer | Self::Silence => Way::Down,
            Self::Request | Self::Terminate | Self::TerminateAtWork => Way::Up,
        }
    }
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    armed: Arc<Mutex<Option<Armed>>>,
}

struct Armed {
    cut: Cut,
    /// How many messages of the cut's direction pass first.
    passes: usize,
}

impl Proxy {
    pub(crate) async fn start(server: u16) -> Self {
        let target = server;
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
                let outside = to_server.local_addr().unwrap().port();
                let up = Pump { way: Way::Up, armed: Arc::clone(&trap), end: Arc::clone(&end), target, outside };
                let down = Pump { way: Way::Down, armed: Arc::clone(&trap), end, target, outside };
                tokio::spawn(up.run(from_client, to_server));
                tokio::spawn(down.run(from_server, to_client));
            }
        });
        Self { port, armed }
    }

    /// Cuts the next connection that gets there, once.
    pub(crate) fn arm(&self, cut: Cut) {
        self.arm_after(0, cut);
    }

    /// The same, after so many messages in the cut's direction.
    pub(crate) fn arm_after(&self, passes: usize, cut: Cut) {
        *self.armed.lock().unwrap() = Some(Armed { cut, passes });
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

/// One direction of one connection.
struct Pump {
    way: Way,
    armed: Arc<Mutex<Option<Armed>>>,
    end: Arc<Notify>,
    /// The server's port, and the one by which it knows the connection.
    target: u16,
    outside: u16,
}

impl Pump {
    async fn run(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = tokio::select! {
                read = from.read(&mut buffer) => read,
                () = self.end.notified() => break,
            };
            let Ok(length @ 1..) = read else { break };
            let cut = self.due();
            match cut {
                Some(Cut::Silence) => continue,
                Some(Cut::Request | Cut::Answer) => break,
                Some(Cut::Terminate) => self.terminate().await,
                Some(Cut::TerminateAtWork) | None => {}
            }
            if to.write_all(&buffer[..length]).await.is_err() {
                break;
            }
            if cut == Some(Cut::TerminateAtWork) {
                self.terminate().await;
            }
        }
        // the other direction ends too
        self.end.notify_waiters();
        self.end.notify_one();
    }

    /// What is to happen to the message at hand.
    fn due(&self) -> Option<Cut> {
        let mut armed = self.armed.lock().unwrap();
        let next = armed.as_mut().filter(|armed| armed.cut.way() == self.way)?;
        match next.passes.checked_sub(1) {
            Some(left) => {
                next.passes = left;
                None
            }
            None => armed.take().map(|armed| armed.cut),
        }
    }

    async fn terminate(&self) {
        let url = format!("postgres://tester@127.0.0.1:{}/postgres", self.target);
        let client = crate::server::connect(&url).await.unwrap();
        let end = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where client_port = $1";
        client.query(end, &[&i32::from(self.outside)]).await.unwrap();
    }
}
