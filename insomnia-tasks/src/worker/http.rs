use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::runtime::{Handle, Id};

/// The HTTP client of a worker.
///
/// Workers that were given none share one, so certificates are read once and an idle session keeps no connection to itself. A
/// connection is driven by the runtime on which it was made, so each runtime has a client of its own: no request waits for a
/// runtime that is gone or stands still.
pub(super) enum Http {
    /// The host's own.
    Given(reqwest::Client),
    /// One of this connect timeout, shared; the last that was used, and its runtime.
    Shared(Duration, Mutex<Option<(Option<Id>, Arc<reqwest::Client>)>>),
}

/// A client that lives as long as a worker has it.
struct Known {
    runtime: Option<Id>,
    connect: Duration,
    client: Weak<reqwest::Client>,
}

// std mutexes: held while a client is looked up or made, never across an await
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

impl Http {
    pub(super) fn shared(connect: Duration) -> Self {
        Self::Shared(connect, Mutex::new(None))
    }

    /// The client to use on the current runtime.
    pub(super) fn client(&self) -> Result<reqwest::Client, reqwest::Error> {
        let (connect, used) = match self {
            Self::Given(client) => return Ok(client.clone()),
            Self::Shared(connect, used) => (*connect, used),
        };
        let runtime = Handle::try_current().ok().map(|handle| handle.id());
        let mut used = lock(used);
        if let Some((at, client)) = &*used
            && *at == runtime
        {
            return Ok(reqwest::Client::clone(client));
        }
        let (_, client) = used.insert((runtime, known(runtime, connect)?));
        Ok(reqwest::Client::clone(client))
    }
}

fn known(runtime: Option<Id>, connect: Duration) -> Result<Arc<reqwest::Client>, reqwest::Error> {
    let mut known = lock(&KNOWN);
    known.retain(|known| known.client.strong_count() > 0);
    let fitting = known.iter().filter(|known| known.runtime == runtime && known.connect == connect);
    if let Some(client) = fitting.filter_map(|known| known.client.upgrade()).next() {
        return Ok(client);
    }
    let client = Arc::new(reqwest::Client::builder().connect_timeout(connect).build()?);
    known.push(Known { runtime, connect, client: Arc::downgrade(&client) });
    Ok(client)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // whole at every moment: a client is put in once it is made
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
