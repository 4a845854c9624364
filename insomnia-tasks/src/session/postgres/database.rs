use std::{error::Error as _, fmt, io, pin::pin, str::FromStr, sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType};
use futures_util::TryStreamExt;
use tokio::{sync::OnceCell, time::timeout};
use tokio_postgres::{
    Config, Row, RowStream,
    error::{Severity, SqlState},
    types::{FromSql, ToSql, Type},
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
        let params = params.iter().map(|(value, kind)| (*value, kind.clone()));
        let answer = self.rows(client.query_typed_raw(sql, params)).await;
        self.settle(client, &answer);
        answer
    }

    /// All rows of an answer.
    pub(super) async fn rows(
        &self,
        answer: impl Future<Output = Result<RowStream, tokio_postgres::Error>>,
    ) -> Result<Vec<Row>, Trouble> {
        let collected = async {
            let mut stream = pin!(answer.await?);
            let mut rows = Vec::new();
            while let Some(row) = stream.try_next().await? {
                rows.push(row);
            }
            Ok((rows, stream.rows_affected()))
        };
        let (rows, counted) = self.within(collected).await?;
        check_count(rows.len(), counted, rows.is_empty())?;
        Ok(rows)
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
            Ok(Err(PoolError::Backend(error))) => Err(match Trouble::told(&error) {
                // it never came to a statement
                Trouble::Refused(failure) if failure.sql_state().is_none() => Trouble::Lost(failure),
                trouble => trouble,
            }),
            Ok(Err(other @ PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle))) => {
                Err(Trouble::Lost(Failure::plain(other.to_string())))
            }
            Ok(Err(other)) => Err(Trouble::NoConnection(Failure::plain(other.to_string()))),
            Err(_) => {
                let failure = Failure::plain(format!("none within {:?}", self.patience));
                let status = self.pool.status();
                match status.available == 0 && status.size >= status.max_size {
                    true => Err(Trouble::NoConnection(failure)),
                    false => Err(Trouble::Lost(failure)),
                }
            }
        }
    }
}

/// Whether these are the rows that the server counted, unless it may have changed some and told none. If not, a message came
/// out of turn, and what follows on the connection belongs to nothing that will be asked.
pub(super) fn check_count(rows: usize, counted: Option<u64>, may_be_untold: bool) -> Result<(), Trouble> {
    match counted.and_then(|counted| usize::try_from(counted).ok()) {
        Some(counted) if counted == rows || may_be_untold => Ok(()),
        counted => Err(Trouble::Lost(Failure::plain(format!("{rows} rows came where the server counted {counted:?}")))),
    }
}

/// A column of an answer, which need not be what it should be where someone has changed the tables.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, Odd> {
    row.try_get(index).map_err(|error| Odd(Failure::new(&error)))
}

/// An answer that is none to what was asked.
#[derive(Debug)]
pub(super) struct Odd(Failure);

impl From<Odd> for PostgresError {
    fn from(odd: Odd) -> Self {
        Self::Answer(odd.0)
    }
}

impl From<Odd> for Trouble {
    fn from(odd: Odd) -> Self {
        Self::Odd(odd.0)
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
    /// The pool has none to give.
    NoConnection(Failure),
    /// The answer is none to what was asked.
    Odd(Failure),
    /// The server will not do it; nothing was done.
    Refused(Failure),
}

impl Trouble {
    /// Whether another attempt may fare better.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Conflict(_) | Self::ReadOnly(_))
    }

    /// Why a statement got no answer.
    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        // the server hung up with these words, such as those of a timeout of its own, whatever code they have
        let ended = error.as_db_error().is_some_and(|answer| match answer.parsed_severity() {
            Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
            None => ["FATAL", "PANIC"].contains(&answer.severity()),
        });
        match Self::told(error) {
            Self::Conflict(failure) | Self::ReadOnly(failure) | Self::Refused(failure) if ended => Self::Lost(failure),
            trouble => trouble,
        }
    }

    /// What the server or the connection said, be it at a statement or before the first one.
    fn told(error: &tokio_postgres::Error) -> Self {
        let failure = Failure::new(error);
        let Some(state) = error.code() else {
            // tokio-postgres has no names for these but their texts
            let text = error.to_string();
            let auth = text.starts_with("authentication error") || failure.is_plain("password missing");
            // after a message out of turn nothing on the connection can be told from what came before
            let out_of_turn = text.starts_with("unexpected message from server");
            let broken =
                error.is_closed() || out_of_turn || error.source().is_some_and(|source| source.is::<io::Error>());
            return match (auth, broken) {
                (true, _) => Self::Auth(failure),
                (false, true) => Self::Lost(failure),
                (false, false) => Self::Refused(failure),
            };
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
            Self::NoConnection(failure) => PostgresError::Pool(failure),
            Self::Odd(failure) => PostgresError::Answer(failure),
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
