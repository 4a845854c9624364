use std::fmt::Write;

use deadpool_postgres::Object;
use tokio_postgres::{Row, error::SqlState, types::Type};

use super::{
    PostgresError, PostgresSessions,
    database::{Param, Trouble, column},
};

/// What leads from each version of the tables to the next; the first one makes them.
const MIGRATIONS: &[&str] =
    &[include_str!("migrations/0001.sql"), include_str!("migrations/0002.sql"), include_str!("migrations/0003.sql")];

const VERSION_TABLE: &str = "create table if not exists insomnia_schema (
    one     boolean primary key default true check (one),
    version integer not null
);
insert into insomnia_schema (version) values (0) on conflict do nothing;";

/// How often a migration that met another one is tried again.
const ATTEMPTS: u32 = 20;

/// The version of the tables that this crate works with.
fn wanted() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Everything that brings tables of any version, or none, up to date, as one transaction.
pub(super) fn schema_sql() -> String {
    let mut sql = format!("begin;\n\n{VERSION_TABLE}\n");
    for (version, migration) in (1..).zip(MIGRATIONS) {
        // writing to a string cannot fail
        let _ = write!(
            sql,
            "\n-- version {version}\ndo $version$ begin\n\
             if (select version from insomnia_schema for update) < {version} then\n\n{migration}\n\
             update insomnia_schema set version = {version};\nend if;\nend $version$;\n"
        );
    }
    sql.push_str("\ncommit;\n");
    sql
}

/// What a database must have, in the order of [`check_settings`].
pub(super) const SETTINGS: &str =
    "current_setting('synchronous_commit', true), current_setting('server_encoding', true)";

/// Whether the server keeps what it acknowledges, and can hold every text; a row that begins with [`SETTINGS`] tells.
pub(super) fn check_settings(row: &Row) -> Result<(), PostgresError> {
    if column::<Option<&str>>(row, 0)? == Some("off") {
        return Err(PostgresError::NotDurable);
    }
    match column::<Option<&str>>(row, 1)? {
        None | Some("UTF8") => Ok(()),
        Some(found) => Err(PostgresError::Encoding { found: found.to_owned() }),
    }
}

/// Brings the tables to the version that this crate works with, where the database will do at all.
pub(super) async fn migrate(sessions: &PostgresSessions) -> Result<(), PostgresError> {
    let settings = sessions.query("read the settings", &format!("select {SETTINGS}"), &[]).await?;
    settings.iter().try_for_each(check_settings)?;
    let mut attempt = 0;
    loop {
        let found = version(sessions).await?;
        if found == wanted() {
            return Ok(());
        }
        let (supported, wanted) = (wanted(), wanted());
        if found > supported {
            return Err(PostgresError::NewerSchema { found, supported });
        }
        attempt += 1;
        match apply(sessions).await {
            Ok(()) => {}
            // what is left of a race, or a connection that was lost
            Err(trouble) if trouble.may_pass() && attempt < ATTEMPTS => {
                tokio::time::sleep(std::time::Duration::from_millis(rand::random_range(5..100))).await;
            }
            Err(Trouble::Refused(source)) => return Err(PostgresError::Schema { found, wanted, source }),
            Err(trouble) => return Err(trouble.into_error("make the tables")),
        }
    }
}

/// The version of the tables; 0 if there are none.
async fn version(sessions: &PostgresSessions) -> Result<i32, PostgresError> {
    match sessions.query("read the version of the tables", "select version from insomnia_schema", &[]).await {
        Ok(rows) => Ok(rows.first().map_or(Ok(0), |row| column(row, 0))?),
        Err(PostgresError::Refused { source, .. }) if source.sql_state() == Some(SqlState::UNDEFINED_TABLE.code()) => {
            Ok(0)
        }
        Err(error) => Err(error),
    }
}

/// One transaction: the locked row makes others wait, and when they have it there is nothing left to do.
async fn apply(sessions: &PostgresSessions) -> Result<(), Trouble> {
    let mut client = sessions.client().await?;
    let applied = apply_with(sessions, &mut client).await;
    sessions.settle(client, &applied);
    applied
}

async fn apply_with(sessions: &PostgresSessions, client: &mut Object) -> Result<(), Trouble> {
    let transaction = sessions.within(client.transaction()).await?;
    // `if not exists` does not wait for another one's table: then a catalogue's key is there twice
    sessions.within(transaction.batch_execute(VERSION_TABLE)).await.map_err(|trouble| match trouble {
        Trouble::Refused(failure) if failure.is([SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE]) => {
            Trouble::Conflict(failure)
        }
        other => other,
    })?;
    let none = || std::iter::empty::<Param<'_>>();
    let locked = transaction.query_typed_raw("select version from insomnia_schema for update", none());
    let found: i32 = sessions.rows(locked).await?.first().map_or(Ok(0), |row| column(row, 0))?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        sessions.within(transaction.batch_execute(migration)).await?;
    }
    let update = "update insomnia_schema set version = greatest(version, $1)";
    let wanted = wanted();
    let wanted: [Param<'_>; 1] = [(&wanted, Type::INT4)];
    sessions.rows(transaction.query_typed_raw(update, wanted)).await?;
    sessions.within(transaction.commit()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_schema_is_one_transaction_that_ends_at_the_version() {
        let sql = schema_sql();
        assert!(sql.starts_with("begin;") && sql.ends_with("commit;\n"), "{sql}");
        assert!(sql.contains("-- version 3\n") && sql.contains("set version = 3;"), "{sql}");
        assert_eq!(sql.matches("partition of insomnia_items").count(), 16);
    }
}
