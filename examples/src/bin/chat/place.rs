use std::{
    env,
    path::{Path, PathBuf},
};

use insomnia_tasks::{
    Pod,
    pod::PodBuilder,
    session::{
        FileStore, Session, StoredSession,
        postgres::{PostgresOptions, PostgresSessions},
    },
};

use crate::{address::Address, failure::Failure};

/// Where a session is kept.
pub(crate) enum Place {
    Folder(PathBuf),
    /// Under a name in a database.
    Postgres(PostgresSessions, String),
}

impl Place {
    /// A folder, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE/NAME`.
    pub(crate) fn of(session: &Path) -> Result<Self, Failure> {
        let Some(address) = Address::of(session) else { return Ok(Self::Folder(session.to_owned())) };
        let name = address.name.clone().ok_or_else(|| {
            Failure::Usage("the session's name is missing: write postgres://HOST/DATABASE/NAME".to_owned())
        })?;
        Ok(Self::Postgres(connect(&address)?, name))
    }

    pub(crate) fn keep(&self, builder: PodBuilder) -> PodBuilder {
        match self {
            Self::Folder(folder) => builder.session(folder),
            Self::Postgres(sessions, name) => builder.session_in_postgres(sessions, name, PostgresOptions::new()),
        }
    }

    /// The records themselves.
    pub(crate) async fn read_records(&self) -> Result<StoredSession, Failure> {
        match self {
            Self::Folder(folder) => FileStore::read(folder).map_err(|error| Failure::Session(error.to_string())),
            Self::Postgres(sessions, name) => {
                sessions.read_records(name).await.map_err(|error| Failure::Session(error.to_string()))
            }
        }
    }

    pub(crate) async fn read(&self) -> Result<Session, Failure> {
        match self {
            Self::Folder(folder) => Session::read(folder).map_err(|error| Failure::Session(error.to_string())),
            Self::Postgres(sessions, name) => {
                sessions.read(name).await.map_err(|error| Failure::Session(error.to_string()))
            }
        }
    }

    /// Makes a copy there that goes its own way.
    pub(crate) async fn fork(&self, pod: &Pod) -> Result<(), Failure> {
        match self {
            Self::Folder(folder) => pod.fork(folder).await,
            Self::Postgres(sessions, name) => pod.fork_in_postgres(sessions, name).await,
        }
        .map_err(|error| Failure::Session(error.to_string()))
    }
}

/// A place as it may be shown: without the password.
pub(crate) fn shown(session: &Path) -> String {
    Address::of(session).map_or_else(|| session.to_string_lossy().into_owned(), |address| address.shown())
}

/// The sessions of a database; the password is `$PGPASSWORD` where the address has none.
pub(crate) fn connect(address: &Address) -> Result<PostgresSessions, Failure> {
    let password = env::var("PGPASSWORD").ok();
    let database = address.database(password.as_deref());
    PostgresSessions::connect(&database).map_err(|error| Failure::Usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_else_is_a_folder() {
        for folder in ["today", "/tmp/postgres", "C:\\x"] {
            assert!(matches!(Place::of(Path::new(folder)), Ok(Place::Folder(_))), "{folder}");
            assert_eq!(shown(Path::new(folder)), folder);
        }
    }
}
