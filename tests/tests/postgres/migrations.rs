//! The tables are made, and brought up to date, by many at once.

use std::process::{Child, Command, Stdio};

use insomnia_tasks::session::{
    Storage,
    postgres::{PostgresOptions, PostgresSessions, PostgresStore},
};

use crate::{
    server::{connect, server},
    storage::{entry, lines},
};

const SCHEMA: &str = "INSOMNIA_PG_MIGRATE";

/// The tables as the first version made them.
fn first_version() -> String {
    let sql = PostgresStore::schema_sql();
    let (first, _) = sql.split_once("-- version 2").unwrap();
    format!("{first}\ncommit;")
}

/// Makes the tables, and a session of its own in them.
#[test]
#[ignore = "this is one of the processes of the test below"]
fn child() {
    let Ok(url) = std::env::var(SCHEMA) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sessions = PostgresSessions::connect(&url).unwrap();
        sessions.migrate().await.unwrap();
        let store = sessions.open(&format!("of {}", std::process::id()), PostgresOptions::new()).await.unwrap().store;
        store.append(&entry(1, "x"));
        store.close().await.unwrap();
    });
}

#[tokio::test]
async fn by_twenty_processes() {
    let server = server!();
    for (database, before) in [("made_by_many", ""), ("updated_by_many", first_version().as_str())] {
        let database = server.database(database, "").await;
        let client = connect(&server.url_of(&database)).await.unwrap();
        client.batch_execute(before).await.unwrap();
        let start = |_| -> Child {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["migrations::child", "--exact", "--ignored"]).env(SCHEMA, server.url_of(&database));
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        for mut child in (0..20).map(start).collect::<Vec<_>>() {
            assert!(child.wait().unwrap().success(), "{database}");
        }
        let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
        let listed = sessions.list("", 100).await.unwrap();
        assert!(listed.len() == 20 && listed.iter().all(|info| info.entries == 1), "{listed:?}");
        let version: i32 = client.query_one("select version from insomnia_schema", &[]).await.unwrap().get(0);
        assert_eq!(version, 3);
    }
}

#[tokio::test]
async fn by_the_printed_statements_again_and_from_an_older_version() {
    let server = server!();
    let database = server.database("printed_again", "").await;
    let client = connect(&server.url_of(&database)).await.unwrap();
    client.batch_execute(&first_version()).await.unwrap();
    for _ in 0..2 {
        client.batch_execute(&PostgresStore::schema_sql()).await.unwrap();
        let version: i32 = client.query_one("select version from insomnia_schema", &[]).await.unwrap().get(0);
        assert_eq!(version, 3);
    }
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let store = sessions.open("new", PostgresOptions::new()).await.unwrap().store;
    store.append(&entry(1, "x"));
    store.close().await.unwrap();
}

/// What was written with older tables is there, and goes on.
#[tokio::test]
async fn a_session_outlives_an_update_of_the_tables() {
    let server = server!();
    let database = server.database("updated", "").await;
    let client = connect(&server.url_of(&database)).await.unwrap();
    client.batch_execute(&first_version()).await.unwrap();
    let mut made = Vec::new();
    let header = r#"{"record":"header","format":1"#;
    for (seq, kind, id, body) in [
        (0, "header", "header", format!(r#"{header},"session":"s","created":5}}"#)),
        (1, "user", "a", lines_of(1, "a")),
        (2, "user", "b", lines_of(2, "b")),
    ] {
        made.push(body.clone());
        let insert = "insert into insomnia_items (session_id, seq, epoch, item_id, kind, body) values ('old', $1, 3, $2, $3, $4)";
        client.execute(insert, &[&i64::from(seq), &id, &kind, &body]).await.unwrap();
    }
    let row = "insert into insomnia_sessions (session_id, epoch, head_seq, owner, fmt) values ('old', 3, 2, 'then', 1)";
    client.batch_execute(row).await.unwrap();

    let opened =
        PostgresSessions::connect(&server.url_of(&database)).unwrap().open("old", PostgresOptions::new()).await;
    let opened = opened.unwrap();
    assert_eq!(lines(&opened.session), made[1..]);
    opened.store.append(&entry(3, "now"));
    opened.store.flush().await.unwrap();
    let epoch = "select epoch, (select epoch from insomnia_items where seq = 3) from insomnia_sessions";
    let row = client.query_one(epoch, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (4, 4));
}

fn lines_of(seq: u64, id: &str) -> String {
    format!(
        r#"{{"record":"item","seq":{seq},"id":"{id}","time":1,"turn":1,"kind":"user","message":{{"role":"user","content":"x"}}}}"#
    )
}
