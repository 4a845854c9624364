use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_openai::{Client, config::Config};

use super::{Pod, PodError, ReminderPlacement, TaskReminder, inbox::Inbox, notifications::Notifications};
#[cfg(feature = "postgres")]
use crate::session::postgres::{PostgresOptions, PostgresSessions};
use crate::{
    interceptor::Interceptor,
    reminder::{Cadence, Reminders},
    session::{
        Durability, EntryBody, FileOptions, FileStore, Header, Ledger, NoStorage, OpenError, Opened, Session, Storage,
        StoredSession,
    },
    task::tools::{SessionTasks, TaskToolbox},
    tool::{AddToolError, Run, ToolSet},
    worker::{AutoCompaction, WorkerBuilder, WorkerSettings},
};

/// Builds a [`Pod`]. Nothing is opened or sent before [`build`](Self::build).
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use async_openai::Client;
/// use insomnia_tasks::{Pod, reminder::Cadence, worker::AutoCompaction};
///
/// let pod = Pod::builder(&Client::new(), "gpt-5-mini")
///     .instructions("You are a careful engineer.")
///     .session("sessions/release")
///     .cadence(Cadence::new(6, 12)?)
///     .auto_compaction(AutoCompaction::for_window(128_000))
///     .max_requests(200)
///     .build()
///     .await?;
/// # Ok(()) }
/// ```
pub struct PodBuilder {
    worker: WorkerBuilder,
    tools: Result<ToolSet, AddToolError>,
    cadence: Cadence,
    placement: ReminderPlacement,
    place: Place,
    default_instructions: Option<String>,
    durability: Durability,
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
            durability: Durability::default(),
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

    /// How often reminders may come, in answered requests; after 8 idle ones and every 8 by default. The
    /// [guide](crate::guide::reminders) says how to tune it.
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

    /// How hard the session is written; by default so that it survives a power cut.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Compacts the history when it has grown too long, which by default is never done, see [`AutoCompaction`].
    #[must_use]
    pub fn auto_compaction(mut self, when: AutoCompaction) -> Self {
        self.worker.settings.compaction = Some(when);
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

    /// How the loop runs: everything that has no method of its own here. Replaces what [`stream`](Self::stream) and
    /// [`max_requests`](Self::max_requests) have set before.
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
        let Self { mut worker, tools, cadence, placement, place, default_instructions, durability } = self;
        let instructions = worker.instructions.clone();
        let reminders = Reminders::new(cadence);
        let begin_with = instructions.clone().or(default_instructions);
        let (session, ledger) = match place {
            Place::Memory => {
                let session = Session::empty(Header::new(begin_with));
                let ledger = Ledger::new(Box::new(NoStorage), Vec::new(), 1, &session, reminders.clone());
                (session, ledger)
            }
            Place::Folder(folder) => open(folder, begin_with, durability, reminders.clone()).await?,
            Place::Opened(session, storage) => take_in(*session, storage, reminders.clone()),
            #[cfg(feature = "postgres")]
            Place::Postgres(sessions, name, mut options) => {
                if let Some(instructions) = begin_with {
                    options = options.instructions(instructions);
                }
                let opened = sessions.open(&name, options.tail_only(true)).await?;
                let (session, ledger) = take_in(opened.session, Box::new(opened.store), reminders.clone());
                let reader = move || Ok(sessions.read_entries_blocking(&name)?);
                (session, ledger.with_reader(reader))
            }
        };
        let ledger = Arc::new(ledger);
        let tasks = session.tasks.clone();
        let mut tools = tools?;
        tools.add_ordered_toolbox::<TaskToolbox, SessionTasks>(Arc::new(SessionTasks(tasks.clone())))?;

        worker.instructions = instructions.clone().or(session.instructions.clone());
        if let Some(new) = instructions.filter(|new| session.instructions.as_ref() != Some(new)) {
            ledger.record(EntryBody::Instructions(new));
        }
        // the ledger knows the tasks too; a handle to them that outlives the Pod keeps no session open
        let recorder = Arc::downgrade(&ledger);
        tasks.record_with(move |author, task| {
            if let Some(ledger) = recorder.upgrade() {
                ledger.task_changed(author, task);
            }
        });
        worker = worker.journal_shared(ledger.clone());
        worker.settings.conversation.get_or_insert_with(|| session.id().to_owned());
        worker.learned = session.dialect.as_ref().and_then(|learned| serde_json::from_str(learned.get()).ok());
        if let ReminderPlacement::Fixed(form) = placement {
            worker = worker.late_system(form);
        }

        if placement == ReminderPlacement::Off {
            reminders.pause();
        }
        let notifications = Notifications::default();
        let counters = session.counters;
        let damage = session.damage.clone();
        let worker = worker
            .tools(tools)
            .interceptor(Inbox::new(&ledger))
            .interceptor(notifications.clone())
            .interceptor(TaskReminder::new(tasks.clone(), reminders.clone()))
            .resume_with(session.into_resumed())
            .build()
            .map_err(PodError::Http)?;
        // not all that they count is sent, nor need all of it be read
        reminders.restore(counters);
        let unread = Arc::downgrade(&ledger);
        worker.history().read_earlier_with(move || {
            let read = unread.upgrade().map(|ledger| ledger.read_earlier());
            read.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
                tracing::warn!(error = %error, "the older part of the history cannot be read");
                Vec::new()
            })
        });
        Ok(Pod::new(worker, ledger, tasks, reminders, notifications, damage))
    }
}

async fn open(
    folder: PathBuf,
    instructions: Option<String>,
    durability: Durability,
    reminders: Reminders,
) -> Result<(Session, Ledger), PodError> {
    let opening = tokio::task::spawn_blocking(move || {
        let mut options = FileOptions::new().durability(durability).tail_only(true);
        if let Some(instructions) = instructions {
            options = options.instructions(instructions);
        }
        let Opened { store, session, .. } = FileStore::open(&folder, options)?;
        let (session, ledger) = take_in(session, Box::new(store), reminders);
        let ledger = ledger.with_reader(move || Ok(FileStore::read(&folder)?.entries));
        Ok::<_, OpenError>((session, ledger))
    });
    Ok(opening.await.map_err(|_| PodError::Runtime)??)
}

fn take_in(stored: StoredSession, storage: Box<dyn Storage>, reminders: Reminders) -> (Session, Ledger) {
    let session = Session::fold_stored(&stored);
    let ledger = Ledger::new(storage, stored.entries, stored.next_seq, &session, reminders);
    (session, ledger)
}

impl fmt::Debug for PodBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PodBuilder").field("worker", &self.worker).finish_non_exhaustive()
    }
}
