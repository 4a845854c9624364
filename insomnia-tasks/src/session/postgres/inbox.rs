use tokio_postgres::types::Type;

use super::{PostgresError, PostgresSessions, read::check_name};
use crate::session::{ids, storage::InboxMessage};

// from the session's row, so that a message to nobody is an error
const NOTIFY: &str = "with target as (select session_id from insomnia_sessions where session_id = $1), put as (
    insert into insomnia_inbox (session_id, item_id, body) select session_id, $2, $3 from target
    on conflict do nothing
) select 1 from target";

const PENDING: &str = "select item_id, body from insomnia_inbox where session_id = $1 order by number limit 1000";

impl PostgresSessions {
    /// Leaves a message for a session, such as "the build has finished", whoever has it open, or nobody. Its owner takes
    /// it in before its next request, exactly once, as [`Pod::notify`](crate::Pod::notify) would.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::Missing`] if there is no such session. `Ok` means that the message is kept.
    pub async fn notify(&self, name: &str, text: &str) -> Result<(), PostgresError> {
        check_name(name)?;
        self.migrate().await?;
        // made here, so that a repeated statement is one message
        let id = format!("inbox-{}", ids::uuid());
        // a NUL cannot stand in a database's text
        let text = text.replace('\0', "\u{fffd}");
        let params: [super::database::Param<'_>; 3] = [(&name, Type::TEXT), (&id, Type::TEXT), (&text, Type::TEXT)];
        match self.query("leave a message", NOTIFY, &params).await?.is_empty() {
            true => Err(PostgresError::Missing { session: name.to_owned() }),
            false => Ok(()),
        }
    }

    /// The messages that wait for a session, oldest first, at most 1,000.
    pub(super) async fn pending(&self, name: &str) -> Result<Vec<InboxMessage>, PostgresError> {
        let rows = self.query("read the inbox", PENDING, &[(&name, Type::TEXT)]).await?;
        Ok(rows.iter().map(|row| InboxMessage { id: row.get(0), text: row.get(1) }).collect())
    }
}
