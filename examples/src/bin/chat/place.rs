use std::path::{Path, PathBuf};

use insomnia_tasks::{
    pod::PodBuilder,
    session::{
        Session,
        postgres::{PostgresOptions, PostgresSessions},
    },
};

use reqwest::Url;

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

    pub(crate) async fn read(&self) -> Result<Session, Failure> {
        match self {
            Self::Folder(folder) => Session::read(folder).map_err(|error| Failure::Session(error.to_string())),
            Self::Postgres(sessions, name) => {
                sessions.read(name).await.map_err(|error| Failure::Session(error.to_string()))
            }
        }
    }
}

/// A session's place as it may be shown: an address without its password.
pub(crate) fn shown(session: &Path) -> String {
    let text = session.to_string_lossy();
    let Some(mut url) = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "postgres" | "postgresql")) else {
        return text.into_owned();
    };
    // neither fails for an address with a host
    let _ = url.set_password(None);
    let secret = |name: &str| matches!(name, "password" | "sslpassword");
    let kept: Vec<_> = url.query_pairs().into_owned().filter(|(name, _)| !secret(name)).collect();
    if kept.len() < url.query_pairs().count() {
        url.set_query(None);
        if !kept.is_empty() {
            url.query_pairs_mut().extend_pairs(kept);
        }
    }
    url.to_string()
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
    fn passwords_are_not_shown() {
        let shown = |address| shown(Path::new(address));
        assert_eq!(shown("postgres://me:pw@h:1/db/today"), "postgres://me@h:1/db/today");
        assert_eq!(shown("postgresql://h/db/a?password=pw&sslmode=require"), "postgresql://h/db/a?sslmode=require");
        assert_eq!(shown("postgres://h/db/a?password=pw"), "postgres://h/db/a");
        for same in ["postgres://h/db/a?sslmode=require", "/tmp/a:b@c", "C:\\x", "a b"] {
            assert_eq!(shown(same), same);
        }
    }

    #[test]
    fn anything_else_is_a_folder() {
        for folder in ["today", "/tmp/postgres", "C:\\x"] {
            assert!(matches!(Place::of(Path::new(folder)), Ok(Place::Folder(_))), "{folder}");
        }
    }
}
