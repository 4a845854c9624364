use std::path::{Path, PathBuf};

use insomnia_tasks::{
    pod::PodBuilder,
    session::{
        FileStore, Session, StoredSession,
        postgres::{PostgresOptions, PostgresSessions},
    },
};

use crate::failure::Failure;

/// Where a session is kept.
pub(crate) enum Place {
    Folder(PathBuf),
    /// Under a name in a database.
    Postgres(PostgresSessions, String),
}

impl Place {
    /// A folder, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE/NAME`.
    pub(crate) fn of(session: &Path) -> Result<Self, Failure> {
        let address =
            session.to_str().filter(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"));
        let Some(address) = address else { return Ok(Self::Folder(session.to_owned())) };
        let (database, name) = split(address).ok_or_else(|| {
            Failure::Usage("the session's name is missing: write postgres://HOST/DATABASE/NAME".to_owned())
        })?;
        let sessions = PostgresSessions::connect(&database).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(Self::Postgres(sessions, name))
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
}

/// The address of the database, and the name behind it; parameters may follow the name.
fn split(address: &str) -> Option<(String, String)> {
    let (path, parameters) = address.split_once('?').unwrap_or((address, ""));
    let (database, name) = path.rsplit_once('/')?;
    let (_, host) = database.split_once("://")?;
    let question = if parameters.is_empty() { "" } else { "?" };
    (host.contains('/') && !name.is_empty()).then(|| (format!("{database}{question}{parameters}"), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_an_address_is_the_name() {
        let parts = |address| split(address).map(|(database, name)| format!("{database} {name}"));
        assert_eq!(parts("postgres://me:pw@h:1/db/today").as_deref(), Some("postgres://me:pw@h:1/db today"));
        assert_eq!(parts("postgres://h/db/a?sslmode=require").as_deref(), Some("postgres://h/db?sslmode=require a"));
        for nameless in ["postgres://h", "postgres://h/db", "postgres://h/db/", "postgres://h/db?options=/x"] {
            assert_eq!(parts(nameless), None, "{nameless}");
        }
    }

    #[test]
    fn anything_else_is_a_folder() {
        for folder in ["today", "/tmp/postgres", "C:\\x"] {
            assert!(matches!(Place::of(Path::new(folder)), Ok(Place::Folder(_))), "{folder}");
        }
    }
}
