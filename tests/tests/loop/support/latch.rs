use tokio::sync::Semaphore;

/// Where a tool waits until the test lets it go on.
#[derive(Debug)]
pub(crate) struct Latch {
    reached: Semaphore,
    open: Semaphore,
}

impl Latch {
    /// A closed latch.
    pub(crate) fn new() -> Self {
        Self { reached: Semaphore::new(0), open: Semaphore::new(0) }
    }

    /// The tool's side: tells that it is here and waits to be let through.
    pub(crate) async fn pass(&self) {
        self.tell();
        self.open.acquire().await.unwrap().forget();
    }

    /// Lets one through.
    pub(crate) fn open(&self) {
        self.open.add_permits(1);
    }

    /// Returns when one more has come here.
    pub(crate) async fn reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    /// Tells that something has happened.
    pub(crate) fn tell(&self) {
        self.reached.add_permits(1);
    }
}
