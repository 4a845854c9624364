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
        self.reached.add_permits(1);
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

    /// How many have come here and were not waited for.
    pub(crate) fn waiting(&self) -> usize {
        self.reached.available_permits()
    }
}
