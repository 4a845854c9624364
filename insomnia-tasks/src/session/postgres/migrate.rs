use std::fmt::Write;

use tokio_postgres::{error::SqlState, types::Type};

use super::{PostgresError, PostgresSessions, database::Trouble, error::Failure};

/// What leads from each version of the tables to the next; the first one makes them.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

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

/// Everything that makes the tables, as one transaction.
pub(super) fn schema_sql() -> String {
    let mut sql = format!("begin;\n\n{VERSION_TABLE}\n");
    for (version, migration) in (1..).zip(MIGRATIONS) {
        // writing to a string cannot fail
        let _ = write!(sql, "\n-- version {version}\n\n{migration}");
    }
    let _ = write!(sql, "\nupdate insomnia_schema set version = {};\n\ncommit;\n", wanted());
    sql
}

/// Brings the tables to the version that this crate works with.
pub(super) async fn migrate(sessions: &PostgresSessions) -> Result<(), PostgresError> {
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
            Err(Trouble::Lost(_) | Trouble::Conflict(_)) if attempt < ATTEMPTS => {
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
        Ok(rows) => Ok(rows.first().map_or(0, |row| row.get(0))),
        Err(PostgresError::Refused { source, .. }) if source.sql_state() == Some(SqlState::UNDEFINED_TABLE.code()) => {
            Ok(0)
        }
        Err(error) => Err(error),
    }
}

/// One transaction: the locked row makes others wait, and when they have it there is nothing left to do.
async fn apply(sessions: &PostgresSessions) -> Result<(), Trouble> {
    let mut client = sessions.client().await?;
    let transaction = client.transaction().await.map_err(|error| Trouble::of(&error))?;
    // `if not exists` does not wait for another one's table: then a catalogue's key is there twice
    transaction.batch_execute(VERSION_TABLE).await.map_err(|error| match error.code() {
        Some(state) if [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE].contains(state) => {
            Trouble::Conflict(Failure::new(&error))
        }
        _ => Trouble::of(&error),
    })?;
    let rows = transaction.query_typed("select version from insomnia_schema for update", &[]).await;
    let found: i32 = rows.map_err(|error| Trouble::of(&error))?.first().map_or(0, |row| row.get(0));
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.batch_execute(migration).await.map_err(|error| Trouble::of(&error))?;
    }
    let update = "update insomnia_schema set version = greatest(version, $1)";
    let updated = transaction.query_typed(update, &[(&wanted(), Type::INT4)]).await;
    updated.map_err(|error| Trouble::of(&error))?;
    transaction.commit().await.map_err(|error| Trouble::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_schema_is_one_transaction_that_ends_at_the_version() {
        let sql = schema_sql();
        assert!(sql.starts_with("begin;") && sql.ends_with("commit;\n"), "{sql}");
        assert!(sql.contains("-- version 1\n") && sql.contains("set version = 1;"), "{sql}");
        assert_eq!(sql.matches("partition of insomnia_items").count(), 16);
    }
}
