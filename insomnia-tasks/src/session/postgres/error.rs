use std::{error::Error as _, fmt};

use tokio_postgres::error::SqlState;

use crate::session::{FORMAT, OpenError, RecordError};

/// Why a session in Postgres could not be opened, read, copied or told something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The address cannot be understood.
    #[error(
        "the address of the database is not usable: {reason}; write `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, and what \
         is special in an address with `%`, such as `%2F` for `/`"
    )]
    Url {
        /// What is wrong with it. It holds no password.
        reason: String,
    },
    /// The name of a session is empty, too long, or holds a NUL.
    #[error("`{name}` cannot name a session: use 1 to 200 bytes without NUL")]
    Name {
        /// The name.
        name: String,
    },
    /// The server cannot be reached, or was lost and did not come back soon enough.
    #[error("cannot reach the database: {0}; check that the server runs, its address and port, and the TLS settings")]
    Connect(#[source] Failure),
    /// The pool has no connection to give: all are in use, or it was closed.
    #[error("the pool gave no connection: {0}; look for what holds its connections, or make it larger")]
    Pool(#[source] Failure),
    /// The server refuses the user or the password.
    #[error("the database refuses this user: {0}; check user name and password, and whether the server insists on TLS")]
    Auth(#[source] Failure),
    /// The server has no database of that name.
    #[error("there is no such database: {0}; create it, or check the name at the end of the address")]
    NoDatabase(#[source] Failure),
    /// The server acknowledges commits that a crash loses.
    #[error(
        "the database has `synchronous_commit = off`: what it acknowledges may be lost; set it to `on` for this user or \
         database"
    )]
    NotDurable,
    /// The database cannot hold every text.
    #[error("the database has the encoding `{found}`, but sessions need UTF8: create one with `encoding 'UTF8'`")]
    Encoding {
        /// Its encoding.
        found: String,
    },
    /// The tables are missing or old, and this user may not change them.
    #[error(
        "the tables have version {found} and version {wanted} is needed, but they could not be changed: {source}; have \
         the statements of `PostgresStore::schema_sql` run by someone who may"
    )]
    Schema {
        /// The version of the tables; 0 for none.
        found: i32,
        /// The version that this crate works with.
        wanted: i32,
        /// The server's answer.
        #[source]
        source: Failure,
    },
    /// A newer version of this crate changed the tables.
    #[error(
        "the tables have version {found}, but this version of insomnia-tasks knows up to {supported}: update the crate"
    )]
    NewerSchema {
        /// The version of the tables.
        found: i32,
        /// The newest known version.
        supported: i32,
    },
    /// A newer version of this crate wrote the session.
    #[error(
        "session `{session}` has format {found}, but this version of insomnia-tasks reads up to {FORMAT}: update the crate"
    )]
    NewerFormat {
        /// The session.
        session: String,
        /// Its format.
        found: u32,
    },
    /// Another owner has the session, and its lease has not ended.
    #[error(
        "the session `{session}` is in use by {owner}, at least for another {left_ms} ms: close it there, wait, or take it \
         over on purpose"
    )]
    InUse {
        /// The session.
        session: String,
        /// Who, as they noted it themselves.
        owner: String,
        /// How long the lease still lasts, in milliseconds.
        left_ms: u64,
    },
    /// There is no such session.
    #[error("there is no session `{session}` in this database: check the name")]
    Missing {
        /// The session.
        session: String,
    },
    /// There is a session of that name already.
    #[error("there is a session `{session}` already: choose another name")]
    Exists {
        /// The session.
        session: String,
    },
    /// The session's first record cannot be read.
    #[error("the header of session `{session}` is damaged: {source}; restore it from a copy")]
    DamagedHeader {
        /// The session.
        session: String,
        /// What is wrong.
        #[source]
        source: RecordError,
    },
    /// A message or a record is larger than a value can be.
    #[error("{what} has {bytes} bytes, but the database takes at most {LARGEST} at once: make it smaller")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        bytes: usize,
    },
    /// The server answered with something else than was asked for.
    #[error(
        "the database gave an unusable answer: {0}; check that its tables are those of `PostgresStore::schema_sql`"
    )]
    Answer(#[source] Failure),
    /// The folder of a copy.
    #[error(transparent)]
    Folder(#[from] Box<OpenError>),
    /// The server refuses a statement.
    #[error("the database refuses to {action}: {source}")]
    Refused {
        /// What was tried.
        action: &'static str,
        /// The server's answer.
        #[source]
        source: Failure,
    },
}

/// A value, and the statement that carries it, stay below 1 GB.
pub(super) const LARGEST: usize = 1_000_000_000;

/// Whether a value of this size can be sent.
pub(super) fn check_size(what: impl FnOnce() -> String, bytes: usize) -> Result<(), PostgresError> {
    match bytes > LARGEST {
        true => Err(PostgresError::TooLarge { what: what(), bytes }),
        false => Ok(()),
    }
}

/// What the server or the connection said.
#[derive(Debug)]
pub struct Failure {
    text: String,
    state: Option<SqlState>,
}

impl Failure {
    pub(super) fn new(error: &tokio_postgres::Error) -> Self {
        let text = match error.as_db_error() {
            Some(answer) => answer.message().to_owned(),
            None => {
                let mut cause = error.source();
                while let Some(deeper) = cause.and_then(|cause| cause.source()) {
                    cause = Some(deeper);
                }
                cause.map_or_else(|| error.to_string(), ToString::to_string)
            }
        };
        Self { text, state: error.code().cloned() }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), state: None }
    }

    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.state.is_none() && self.text == text
    }

    pub(super) fn is<const N: usize>(&self, states: [SqlState; N]) -> bool {
        self.state.as_ref().is_some_and(|state| states.contains(state))
    }

    /// The SQLSTATE, such as `57P01`, where the server answered at all.
    pub fn sql_state(&self) -> Option<&str> {
        self.state.as_ref().map(SqlState::code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.state {
            Some(state) => write!(f, " ({})", state.code()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_largest_size_and_the_error_says_which_one_is_larger() {
        let what = || "entry 7".to_owned();
        assert!(check_size(what, LARGEST).is_ok());
        let error = check_size(what, LARGEST + 1).map_err(|error| error.to_string());
        assert_eq!(
            error.unwrap_err(),
            "entry 7 has 1000000001 bytes, but the database takes at most 1000000000 at once: make it smaller"
        );
    }
}
