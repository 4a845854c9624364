use tokio_postgres::types::Type;

use super::{PostgresError, PostgresSessions, database::column, error::check_size, read::check_name};
use crate::session::{ids, storage::InboxMessage};

// from the session's row, so that a message to nobody is an error
const NOTIFY: &str = "with target as (select session_id from insomnia_sessions where session_id = $1), put as (
    insert into insomnia_inbox (session_id, item_id, body) select session_id, $2, $3 from target
    on conflict do nothing
) select 1 from target";

// a message may be left again when its owner has taken it in already: the answer to the first time was lost
const PENDING: &str = "select item_id, body, exists (
        select 1 from insomnia_items i where i.session_id = $1 and i.item_id = n.item_id
    ) from insomnia_inbox n where n.session_id = $1 order by n.number";

const CLEAR: &str = "delete from insomnia_inbox where session_id = $1 and item_id = any($2)";

impl PostgresSessions {
    /// Leaves a message for a session, such as "the build has finished", whoever has it open, or nobody. Its owner takes
    /// it in before its next request, exactly once, as [`Pod::notify`](crate::Pod::notify) would.
    ///
    /// # Errors
    /// See [`PostgresError`]; [`PostgresError::Missing`] if there is no such session. `Ok` means that the message is kept.
    pub async fn notify(&self, name: &str, text: &str) -> Result<(), PostgresError> {
        check_name(name)?;
        // a NUL cannot stand in a database's text
        let text = text.replace('\0', "\u{fffd}");
        check_size(|| "the message".to_owned(), text.len())?;
        self.migrate().await?;
        // made here, so that a repeated statement is one message
        let id = format!("inbox-{}", ids::uuid());
        let params: [super::database::Param<'_>; 3] = [(&name, Type::TEXT), (&id, Type::TEXT), (&text, Type::TEXT)];
        match self.query("leave a message", NOTIFY, &params).await?.is_empty() {
            true => Err(PostgresError::Missing { session: name.to_owned() }),
            false => Ok(()),
        }
    }

    /// The messages that wait for a session, oldest first.
    pub(super) async fn pending(&self, name: &str) -> Result<Vec<InboxMessage>, PostgresError> {
        let rows = self.query("read the inbox", PENDING, &[(&name, Type::TEXT)]).await?;
        let (mut messages, mut taken) = (Vec::new(), Vec::new());
        for row in &rows {
            let message = InboxMessage { id: column(row, 0)?, text: column(row, 1)? };
            match column(row, 2)? {
                true => taken.push(message.id),
                false => messages.push(message),
            }
        }
        if !taken.is_empty() {
            self.query("clear the inbox", CLEAR, &[(&name, Type::TEXT), (&taken, Type::TEXT_ARRAY)]).await?;
        }
        Ok(messages)
    }
}
