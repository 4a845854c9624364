use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, atomic::Ordering},
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinSet, yield_now},
};

use super::{RecordedRequest, ScriptedModel, service::Service};

/// An OpenAI-compatible server on a free loopback port, with a [`ScriptedModel`] behind it. Dropping it closes the port
/// and every connection.
///
/// It serves `POST /v1/chat/completions` and `GET /v1/models`; anything else gets an error in OpenAI's form. Replies to
/// `POST /v1/responses` come from the model too, but as a body that the script gives in whole.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    service: Arc<Service>,
    accepting: AbortHandle,
}

impl ScriptedServer {
    /// Starts a server that takes any API key, or none. Must be called within a tokio runtime, on which it then runs.
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn start(model: impl ScriptedModel) -> io::Result<Self> {
        Self::launch(Box::new(model), None).await
    }

    /// Like [`ScriptedServer::start`], but requests without this API key are refused with status 401.
    ///
    /// # Errors
    /// If no loopback port can be opened.
    pub async fn start_with_key(model: impl ScriptedModel, api_key: impl Into<String>) -> io::Result<Self> {
        Self::launch(Box::new(model), Some(api_key.into())).await
    }

    async fn launch(model: Box<dyn ScriptedModel>, api_key: Option<String>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let service = Arc::new(Service::new(model, api_key));
        let accepting = tokio::spawn(accept(listener, service.clone())).abort_handle();
        Ok(Self { address, service, accepting })
    }

    /// What a client takes as its base URL: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, in order of arrival, refused ones included. One is recorded when its body is complete.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.service.requests()
    }

    /// Returns all requests as soon as there are at least `count`. It waits as long as that takes.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        wait_for(&self.service.arrived, count).await;
        self.requests()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.service.connections.load(Ordering::Relaxed)
    }

    /// How many replies were given up so far because the client closed the connection before their end.
    pub fn hang_ups(&self) -> usize {
        *self.service.hang_ups.borrow()
    }

    /// Returns as soon as at least `count` replies were given up because the client closed the connection before their
    /// end. It waits as long as that takes.
    pub async fn wait_for_hang_ups(&self, count: usize) {
        wait_for(&self.service.hang_ups, count).await;
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn wait_for(counter: &watch::Sender<usize>, count: usize) {
    // It fails only without a sender, and `counter` is one.
    let _ = counter.subscribe().wait_for(|reached| *reached >= count).await;
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                service.connections.fetch_add(1, Ordering::Relaxed);
                connections.spawn(serve(stream, service.clone()));
            }
            Err(_) => yield_now().await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, service: Arc<Service>) {
    // Every chunk shall be a packet of its own; without this they are merged, nothing worse.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.handle(request).await) }
    });
    // An error here is a client that hung up, or a cut in the script.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
