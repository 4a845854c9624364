use tokio::sync::watch;

/// A gate that a reply waits at until a test opens it. Clones are the same gate; once open it stays open.
#[derive(Clone, Debug)]
pub struct Gate {
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    reached: bool,
    open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { state: watch::Sender::new(State::default()) }
    }

    /// Lets through who waits here, and everyone later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Returns once a reply has come to this gate, which means that everything before it was handed to the socket.
    pub async fn reached(&self) {
        self.wait_for(|state| state.reached).await;
    }

    pub(super) async fn pass(&self) {
        self.state.send_modify(|state| state.reached = true);
        self.wait_for(|state| state.open).await;
    }

    async fn wait_for(&self, condition: impl FnMut(&State) -> bool) {
        // It fails only without a sender, and `self` is one.
        let _ = self.state.subscribe().wait_for(condition).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
