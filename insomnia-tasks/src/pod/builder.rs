use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_openai::{Client, config::Config};

use super::{Pod, PodError, ReminderPlacement, inbox::Inbox, notifications::Notifications};
#[cfg(feature = "postgres")]
use crate::session::postgres::{PostgresOptions, PostgresSessions};
use crate::{
    interceptor::Interceptor,
    reminder::{Cadence, Reminders, TaskReminder},
    session::{EntryBody, FileOptions, FileStore, Ledger, OpenError, Session, Storage, StoredSession},
    task::{TaskStore, tools::TaskToolbox},
    tool::{AddToolError, Run, ToolSet},
    worker::{WorkerBuilder, WorkerSettings},
};

/// Builds a [`Pod`].
pub struct PodBuilder {
    worker: WorkerBuilder,
    tools: Result<ToolSet, AddToolError>,
    cadence: Cadence,
    placement: ReminderPlacement,
    place: Place,
    default_instructions: Option<String>,
}

/// Where the session is kept.
enum Place {
    Memory,
    Folder(PathBuf),
    Opened(Box<StoredSession>, Box<dyn Storage>),
    #[cfg(feature = "postgres")]
    Postgres(PostgresSessions, String, PostgresOptions),
}

impl PodBuilder {
    pub(super) fn new<C: Config + Clone + 'static>(client: &Client<C>, model: impl Into<String>) -> Self {
        Self {
            worker: WorkerBuilder::new(client, model),
            tools: Ok(ToolSet::new()),
            cadence: Cadence::default(),
            placement: ReminderPlacement::Auto,
            place: Place::Memory,
            default_instructions: None,
        }
    }

    /// The system prompt. A resumed session keeps the one that it has, unless this is another: then it is recorded and used
    /// from now on.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.worker = self.worker.instructions(text);
        self
    }

    /// The system prompt of a session that has none yet; a resumed one keeps its own.
    #[must_use]
    pub fn default_instructions(mut self, text: impl Into<String>) -> Self {
        self.default_instructions = Some(text.into());
        self
    }

    /// Adds a tool of the host with the state that it runs on. The four task tools are there already.
    #[must_use]
    pub fn tool<T, S>(mut self, state: Arc<S>) -> Self
    where
        T: Run<S>,
        S: Send + Sync + 'static,
    {
        self.tools = self.tools.and_then(|mut tools| {
            tools.add::<T, S>(state)?;
            Ok(tools)
        });
        self
    }

    /// Adds a set of tools, for instance from a toolbox or with tools made at run time.
    #[must_use]
    pub fn tools(mut self, more: ToolSet) -> Self {
        self.tools = self.tools.and_then(|mut tools| {
            tools.extend(&more)?;
            Ok(tools)
        });
        self
    }

    /// Adds a plugin. Plugins run in the order in which they were added, those of this crate after them.
    #[must_use]
    pub fn interceptor(mut self, interceptor: impl Interceptor) -> Self {
        self.worker = self.worker.interceptor(interceptor);
        self
    }

    /// How often reminders may come; after 8 idle requests and every 8 by default.
    #[must_use]
    pub fn cadence(mut self, cadence: Cadence) -> Self {
        self.cadence = cadence;
        self
    }

    /// How reminders and notifications reach the server; as suits it by default.
    #[must_use]
    pub fn reminder(mut self, placement: ReminderPlacement) -> Self {
        self.placement = placement;
        self
    }

    /// Keeps the session in this folder: made if absent, resumed if it holds a session. Without one it lives in memory only.
    #[must_use]
    pub fn session(mut self, folder: impl AsRef<Path>) -> Self {
        self.place = Place::Folder(folder.as_ref().to_owned());
        self
    }

    /// Keeps the session of this name in Postgres: made if absent, resumed if present. The system prompts of the builder
    /// stand in for those of the options.
    #[cfg(feature = "postgres")]
    #[must_use]
    pub fn session_in_postgres(
        mut self,
        sessions: &PostgresSessions,
        name: impl Into<String>,
        options: PostgresOptions,
    ) -> Self {
        self.place = Place::Postgres(sessions.clone(), name.into(), options);
        self
    }

    /// Goes on with a session that is open already, in a storage of any kind.
    #[must_use]
    pub fn session_in(mut self, session: StoredSession, storage: impl Storage + 'static) -> Self {
        self.place = Place::Opened(Box::new(session), Box::new(storage));
        self
    }

    /// Whether answers are streamed; yes by default.
    #[must_use]
    pub fn stream(mut self, stream: bool) -> Self {
        self.worker.settings.stream = stream;
        self
    }

    /// Answered requests per turn before it ends with an error; 64 by default.
    #[must_use]
    pub fn max_requests(mut self, limit: u64) -> Self {
        self.worker.settings.max_requests = limit;
        self
    }

    /// How the loop runs: everything that has no method of its own here.
    #[must_use]
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.worker = self.worker.settings(settings);
        self
    }

    /// The HTTP client that carries the requests, see [`WorkerBuilder::http_client`].
    #[must_use]
    pub fn http_client(mut self, http: reqwest::Client) -> Self {
        self.worker = self.worker.http_client(http);
        self
    }

    /// Opens or makes the session.
    ///
    /// # Errors
    /// If the folder cannot be opened, a tool cannot be added, or no HTTP client can be made.
    pub async fn build(self) -> Result<Pod, PodError> {
        let Self { mut worker, tools, cadence, placement, place, default_instructions } = self;
        let instructions = worker.instructions.clone();
        let first_instructions = instructions.clone().or(default_instructions);
        let (session, ledger) = match place {
            Place::Memory => (Session::empty(first_instructions), None),
            Place::Folder(folder) => open(folder, first_instructions).await?,
            Place::Opened(session, storage) => take_in(*session, storage),
            #[cfg(feature = "postgres")]
            Place::Postgres(sessions, name, mut options) => {
                if let Some(instructions) = first_instructions {
                    options = options.instructions(instructions);
                }
                let opened = sessions.open(&name, options).await?;
                take_in(opened.session, Box::new(opened.store))
            }
        };
        let tasks = session.tasks.clone();
        let mut tools = tools?;
        tools.add_ordered_toolbox::<TaskToolbox, TaskStore>(Arc::new(tasks.clone()))?;

        worker.instructions = instructions.clone().or(session.instructions.clone());
        let ledger = ledger.map(Arc::new);
        if let Some(ledger) = ledger.clone() {
            if let Some(new) = instructions.filter(|new| session.instructions.as_ref() != Some(new)) {
                ledger.record(EntryBody::Instructions(new));
            }
            let recorder = Arc::clone(&ledger);
            tasks.record_with(move |author, task| recorder.task_changed(author, task));
            worker = worker.journal_shared(ledger);
        }
        let detected = worker.detect_dialect();
        let recorded = session.dialect.as_ref().and_then(|dialect| serde_json::from_str(dialect.get()).ok());
        match placement {
            ReminderPlacement::Fixed(form) if worker.settings.dialect.is_none() => {
                worker.settings.dialect = Some(detected.with_late_system(form));
            }
            _ => worker.recorded_dialect = recorded,
        }

        let reminders = Reminders::new(cadence);
        if placement == ReminderPlacement::Off {
            reminders.pause();
        }
        let notifications = Notifications::default();
        if let Some(ledger) = &ledger {
            worker = worker.interceptor(Inbox::new(ledger));
        }
        let worker = worker
            .tools(tools)
            .interceptor(notifications.clone())
            .interceptor(TaskReminder::new(tasks.clone(), reminders.clone()))
            .resume(session.items, session.turn)
            .build()
            .map_err(PodError::Http)?;
        Ok(Pod::new(worker, tasks, reminders, notifications, session.damage, ledger))
    }
}

async fn open(folder: PathBuf, instructions: Option<String>) -> Result<(Session, Option<Ledger>), PodError> {
    let opening = tokio::task::spawn_blocking(move || {
        let mut options = FileOptions::new();
        if let Some(instructions) = instructions {
            options = options.instructions(instructions);
        }
        let opened = FileStore::open(&folder, options)?;
        Ok::<_, OpenError>(take_in(opened.session, Box::new(opened.store)))
    });
    Ok(opening.await.map_err(|_| PodError::Runtime)??)
}

fn take_in(stored: StoredSession, storage: Box<dyn Storage>) -> (Session, Option<Ledger>) {
    let next_seq = stored.next_seq;
    let session = Session::fold(stored);
    let ledger = Ledger::new(storage, next_seq, session.turn);
    (session, Some(ledger))
}

impl fmt::Debug for PodBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PodBuilder").field("worker", &self.worker).finish_non_exhaustive()
    }
}
