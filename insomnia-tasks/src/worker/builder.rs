use std::{fmt, sync::Arc};

use async_openai::{Client, config::Config};

use super::{
    Journal, LearnedDialect, NoJournal, Resumed, Worker, WorkerSettings, http::Http, log::Log, transport::Transport,
};
use crate::{
    Item, ItemKind,
    interceptor::Interceptor,
    tool::ToolSet,
    wire::{Dialect, LateSystem},
};

/// Builds a [`Worker`].
pub struct WorkerBuilder {
    pub(crate) config: Arc<dyn Config>,
    pub(crate) model: String,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: ToolSet,
    pub(crate) interceptors: Vec<Arc<dyn Interceptor>>,
    pub(crate) settings: WorkerSettings,
    pub(crate) http: Option<reqwest::Client>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) resumed: Resumed,
    pub(crate) learned: Option<LearnedDialect>,
    pub(crate) placement: Option<LateSystem>,
}

impl WorkerBuilder {
    pub(crate) fn new<C: Config + Clone + 'static>(client: &Client<C>, model: impl Into<String>) -> Self {
        Self {
            config: Arc::new(client.config().clone()),
            model: model.into(),
            instructions: None,
            tools: ToolSet::new(),
            interceptors: Vec::new(),
            settings: WorkerSettings::default(),
            http: None,
            journal: Arc::new(NoJournal),
            resumed: Resumed::default(),
            learned: None,
            placement: None,
        }
    }

    /// The system prompt.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// The tools that requests offer.
    #[must_use]
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.tools = tools;
        self
    }

    /// Adds a plugin; plugins run in the order in which they were added.
    #[must_use]
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.interceptors.push(Arc::new(interceptor));
        self
    }

    /// How the loop runs.
    #[must_use]
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The HTTP client that carries the requests: for proxies, certificates and the like. By default the workers on a runtime
    /// share one for each [connect timeout](super::Timeouts::connect), and with it their idle connections; async-openai's own
    /// cannot be taken over. A client that is given here should serve one runtime: what it has connected on one that stands still
    /// does not move.
    #[must_use]
    pub fn http_client(mut self, http: reqwest::Client) -> Self {
        self.http = Some(http);
        self
    }

    /// Where commits are recorded; nowhere by default.
    #[must_use]
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Arc::new(journal);
        self
    }

    /// How late system messages are sent, once and for all; the rest of the dialect is still found out. Without effect where
    /// the settings name a whole dialect.
    #[must_use]
    pub fn late_system(mut self, placement: LateSystem) -> Self {
        self.placement = Some(placement);
        self
    }

    /// What an earlier run of the session learned about its server. It is used if this is the same server and model.
    #[must_use]
    pub fn learned(mut self, learned: LearnedDialect) -> Self {
        self.learned = Some(learned);
        self
    }

    /// The dialect to begin with: the one that was learned, or what suits the server's address and the model's name.
    fn starting_dialect(&self) -> Dialect {
        let server = self.config.api_base();
        let learned = self.learned.as_ref().filter(|learned| learned.is_about(server, &self.model));
        let dialect = learned.map_or_else(|| self.detected(server), |learned| learned.dialect.clone());
        match self.placement {
            Some(placement) => dialect.with_late_system(placement),
            None => dialect,
        }
    }

    /// What suits the server. A window to be kept to is measured by counts of tokens, so streams are asked for them then.
    fn detected(&self, server: &str) -> Dialect {
        let dialect = Dialect::detect(server, &self.model);
        let measured = self.settings.compaction.as_ref().is_some_and(|auto| auto.window.is_some());
        let counts = dialect.stream_usage || measured;
        dialect.with_stream_usage(counts)
    }

    pub(crate) fn journal_shared(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// The history to go on from, which is in the journal already, and the number of its last turn. Each user message in it
    /// counts as the beginning of a turn.
    #[must_use]
    pub fn resume(self, items: Vec<Item>, turn: u64) -> Self {
        let mut at = turn;
        let mut turns: Vec<_> = items
            .iter()
            .rev()
            .map(|item| {
                let own = at;
                at = at.saturating_sub((item.kind() == ItemKind::User).into());
                own
            })
            .collect();
        turns.reverse();
        self.resume_with(Resumed { items, turns, turn, summarised: None })
    }

    pub(crate) fn resume_with(mut self, resumed: Resumed) -> Self {
        self.resumed = resumed;
        self
    }

    /// The worker.
    ///
    /// # Errors
    /// If no HTTP client can be made, which is for want of TLS roots or entropy.
    pub fn build(self) -> Result<Worker, reqwest::Error> {
        let dialect = self.settings.dialect.clone().unwrap_or_else(|| self.starting_dialect());
        let http = match self.http {
            Some(http) => Http::Given(http),
            None => Http::shared(self.settings.timeouts.connect),
        };
        http.client()?;
        let transport = Transport::new(self.config, http);
        let log = Log::resumed(dialect, self.instructions, self.journal, self.interceptors, self.resumed);
        Ok(Worker::new(log, transport, self.model, self.tools, self.settings).placed(self.placement))
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerBuilder").field("model", &self.model).finish_non_exhaustive()
    }
}
