use std::{error::Error as _, fmt, io, str::FromStr, sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use tokio::{sync::OnceCell, time::timeout};
use tokio_postgres::{
    Config, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{PostgresError, error::Failure, migrate, tls};

/// The sessions of one database. Cheap to clone; clones share their connections.
///
/// No statement is prepared by name and no state is kept in a connection, so a pooler in transaction mode may stand
/// between.
#[derive(Clone)]
pub struct PostgresSessions {
    pool: Pool,
    patience: Duration,
    /// Set once the tables are known to be there.
    ready: Arc<OnceCell<()>>,
}

/// A parameter and its type.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// How often a statement is sent again after a conflict with another transaction.
const CONFLICTS: u32 = 30;

/// The waits before a statement is sent again on a new connection.
const RECONNECTS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(50), Duration::from_millis(250), Duration::from_millis(700)];

impl PostgresSessions {
    /// The sessions in the database at this address, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. It is not called yet.
    ///
    /// The parameters are those of [`tokio_postgres::Config`]. Where TLS is used, the server's certificate is checked,
    /// whatever the `sslmode`. At most 16 connections are open at a time.
    ///
    /// # Errors
    /// [`PostgresError::Url`].
    pub fn connect(url: &str) -> Result<Self, PostgresError> {
        // certificates are always checked, so the stricter words mean no more
        let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
        let unusable = |reason: String| PostgresError::Url { reason };
        if url.contains("://") && !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(unusable("it does not begin with `postgres://`".to_owned()));
        }
        let mut config = Config::from_str(&url).map_err(|error| unusable(mistake(&url, &error)))?;
        if config.get_application_name().is_none() {
            config.application_name("insomnia-tasks");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config, tls::connector().map_err(unusable)?, recycling);
        let pool = Pool::builder(manager).max_size(16).runtime(Runtime::Tokio1);
        let pool = pool.build().map_err(|error| unusable(error.to_string()))?;
        Ok(Self::with_pool(pool))
    }

    /// The sessions in the database of the host's own pool: for other TLS settings, pool sizes, or a shared pool. Where the older
    /// part of a compacted session is asked for, that is read on a connection beside the pool, for which its hooks do not run.
    pub fn with_pool(pool: Pool) -> Self {
        Self { pool, patience: Duration::from_secs(30), ready: Arc::default() }
    }

    /// How long one statement may take, the wait for a connection included, before it counts as lost; 30 seconds by
    /// default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The connections.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Makes or updates the tables. Opening a session does so too; any number of processes may do it at once.
    ///
    /// # Errors
    /// See [`PostgresError`].
    pub async fn migrate(&self) -> Result<(), PostgresError> {
        self.ready.get_or_try_init(|| migrate::migrate(self)).await.map(|_| ())
    }

    /// Runs one statement that may be repeated, and repeats it where the connection is lost or another transaction was
    /// in the way. Whether a lost one was carried out is for the caller to find out.
    pub(super) async fn query(
        &self,
        action: &'static str,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, PostgresError> {
        let (mut conflicts, mut lost) = (0, RECONNECTS.iter());
        loop {
            let trouble = match self.once(sql, params).await {
                Ok(rows) => return Ok(rows),
                Err(trouble) => trouble,
            };
            let wait = match &trouble {
                Trouble::Conflict(_) if conflicts < CONFLICTS => {
                    conflicts += 1;
                    Some(Duration::from_millis(rand::random_range(0..=u64::from(2 * conflicts))))
                }
                Trouble::Lost(_) | Trouble::ReadOnly(_) => lost.next().copied(),
                _ => None,
            };
            let Some(wait) = wait else { return Err(trouble.into_error(action)) };
            tracing::debug!(?trouble, ?wait, action, "a statement is sent again");
            tokio::time::sleep(wait).await;
        }
    }

    async fn once(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Trouble> {
        let client = self.client().await?;
        let answer = self.within(client.query_typed(sql, params)).await;
        self.settle(client, &answer);
        answer
    }

    /// Waits for the server's answer, as long as that may take.
    pub(super) async fn within<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Trouble> {
        match timeout(self.patience, answer).await {
            Ok(answer) => answer.map_err(|error| Trouble::of(&error)),
            Err(_) => Err(Trouble::Lost(Failure::plain(format!("no answer within {:?}", self.patience)))),
        }
    }

    /// Gives a connection back to the pool. One that is no good is let go, and with it those that lie idle: what befell it,
    /// such as a restart of the server, may have befallen them too, and some hang for ever.
    pub(super) fn settle<T>(&self, client: Object, answer: &Result<T, Trouble>) {
        if let Err(Trouble::Lost(_) | Trouble::ReadOnly(_)) = answer {
            drop(Object::take(client));
            self.pool.retain(|_, _| false);
        }
    }

    /// A connection of the pool, fit for use as far as can be known.
    pub(super) async fn client(&self) -> Result<Object, Trouble> {
        match timeout(self.patience, self.pool.get()).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(PoolError::Backend(error))) => Err(match Trouble::of(&error) {
                // it never came to a statement
                Trouble::Refused(failure) if failure.sql_state().is_none() => Trouble::Lost(failure),
                trouble => trouble,
            }),
            Ok(Err(other)) => Err(Trouble::Lost(Failure::plain(other.to_string()))),
            Err(_) => Err(Trouble::Lost(Failure::plain(format!("no connection within {:?}", self.patience)))),
        }
    }
}

/// Why a statement got no answer, as far as what to do next depends on it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no connection, or no longer; what was sent may or may not have been carried out.
    Lost(Failure),
    /// Another transaction was in the way; nothing was done.
    Conflict(Failure),
    /// The server takes no changes, as one that another took the place of; nothing was done. A new connection may lead to the
    /// one that does.
    ReadOnly(Failure),
    Auth(Failure),
    NoDatabase(Failure),
    /// The server will not do it; nothing was done.
    Refused(Failure),
}

impl Trouble {
    /// Whether another attempt may fare better.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Conflict(_) | Self::ReadOnly(_))
    }

    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        let failure = Failure::new(error);
        let Some(state) = error.code() else {
            // after a message out of turn nothing on the connection can be told from what came before; tokio-postgres has no
            // name for that but its text
            let out_of_turn = error.to_string().starts_with("unexpected message from server");
            let broken =
                error.is_closed() || out_of_turn || error.source().is_some_and(|source| source.is::<io::Error>());
            return if broken { Self::Lost(failure) } else { Self::Refused(failure) };
        };
        if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(state) {
            return Self::Conflict(failure);
        }
        let unknown_outcome = *state == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN;
        match state.code().get(..2) {
            Some("28") => Self::Auth(failure),
            _ if *state == SqlState::INVALID_CATALOG_NAME => Self::NoDatabase(failure),
            _ if [SqlState::QUERY_CANCELED, SqlState::DISK_FULL].contains(state) => Self::Refused(failure),
            // connection lost, shut down or starting up, too many connections
            Some("08" | "53" | "57") => Self::Lost(failure),
            _ if *state == SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly(failure),
            _ if unknown_outcome => Self::Lost(failure),
            _ => Self::Refused(failure),
        }
    }

    pub(super) fn into_error(self, action: &'static str) -> PostgresError {
        match self {
            Self::Lost(failure) => PostgresError::Connect(failure),
            Self::Auth(failure) => PostgresError::Auth(failure),
            Self::NoDatabase(failure) => PostgresError::NoDatabase(failure),
            Self::Conflict(source) | Self::ReadOnly(source) | Self::Refused(source) => {
                PostgresError::Refused { action, source }
            }
        }
    }
}

/// What is wrong with an address, without a part of a password that was taken for something else.
fn mistake(url: &str, error: &tokio_postgres::Error) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    match text.split(' ').next() {
        Some("unknown") if parameters.is_empty() || ["@", "password"].iter().any(|part| parameters.contains(part)) => {
            "it has a parameter that is not known".to_owned()
        }
        Some("unexpected") => "it ends too soon, or has a character where none belongs".to_owned(),
        _ => text,
    }
}

impl fmt::Debug for PostgresSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSessions").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}
