//! Databases that cannot be used: each says why and what to do.

use insomnia_tasks::{
    Pod,
    pod::PodError,
    session::{
        Header, Storage,
        postgres::{PostgresError, PostgresOptions, PostgresSessions, PostgresStore},
    },
};

use crate::{
    pods::client,
    server::{connect, server},
};

async fn error_at(url: &str) -> PostgresError {
    PostgresSessions::connect(url).unwrap().open("refused", PostgresOptions::new()).await.unwrap_err()
}

#[tokio::test]
async fn a_wrong_password() {
    let server = server!();
    server.client().await.batch_execute("create role locked login superuser password 'right'").await.unwrap();
    let url = |password: &str| server.url().replace("tester@", &format!("locked:{password}@"));
    let error = error_at(&url("wrong")).await;
    assert!(matches!(&error, PostgresError::Auth(failure) if failure.sql_state() == Some("28P01")), "{error}");
    assert!(error.to_string().contains("check user name and password"), "{error}");
    assert!(!error.to_string().contains("wrong"), "{error}");
    PostgresSessions::connect(&url("right")).unwrap().open("unlocked", PostgresOptions::new()).await.unwrap();
    let missing = error_at(&server.url().replace("tester@", "locked@")).await;
    assert!(matches!(missing, PostgresError::Auth(_)) && missing.to_string().contains("password missing"), "{missing}");
}

/// What is special in an address is often not written with `%`.
#[tokio::test]
async fn passwords_are_in_no_error() {
    let passwords = [
        "s3cret@x",
        "s3cret/x",
        "x/s3cret",
        "x?s3cret=x",
        "x#s3cret",
        "%zs3cret",
        "x s3cret",
        "x&s3cret",
        "s3cret:x",
        "[s3cret",
    ];
    let addresses =
        ["locked:{}@127.0.0.1:9/db", "locked:{}@127.0.0.1:9/db?connect_timeout=1", "locked:{}@h", ":{}@", "locked:{}"];
    let urls = passwords.iter().flat_map(|password| addresses.map(|address| address.replace("{}", password)));
    let tried = urls.map(async |url| {
        let error = match PostgresSessions::connect(&format!("postgres://{url}")) {
            Ok(sessions) => sessions.patience(std::time::Duration::from_millis(50)).migrate().await.unwrap_err(),
            Err(error) => error,
        };
        let told = format!("{error} {error:?}");
        assert!(!told.contains("s3cret"), "{url}: {told}");
    });
    futures_util::future::join_all(tried).await;
}

#[tokio::test]
async fn no_such_database() {
    let server = server!();
    let error = error_at(&server.url_of("nowhere")).await;
    assert!(matches!(error, PostgresError::NoDatabase(_)), "{error}");
    assert!(error.to_string().contains("database \"nowhere\" does not exist"), "{error}");
    let built = Pod::builder(&client("http://127.0.0.1:9/v1"), "gpt-5-mini")
        .session_in_postgres(
            &PostgresSessions::connect(&server.url_of("nowhere")).unwrap(),
            "refused",
            PostgresOptions::new(),
        )
        .build()
        .await;
    assert!(matches!(built, Err(PodError::Postgres(PostgresError::NoDatabase(_)))));
}

#[tokio::test]
async fn no_server() {
    let error = error_at("postgres://tester@127.0.0.1:9/postgres").await;
    assert!(matches!(error, PostgresError::Connect(_)), "{error}");
    assert!(error.to_string().contains("onnection refused"), "{error}");
}

#[tokio::test]
async fn an_address_that_is_none() {
    for (url, reason) in [
        ("postgres://host:port/db", "port"),
        ("mysql://host/db", "postgres://"),
        ("postgres://host/db?sslmode=perhaps", "sslmode"),
    ] {
        let error = PostgresSessions::connect(url).unwrap_err();
        assert!(matches!(&error, PostgresError::Url { reason: said } if said.contains(reason)), "{error}");
    }
}

#[tokio::test]
async fn commits_that_a_crash_loses() {
    let server = server!();
    let database = server.database("forgetful", "").await;
    server.client().await.batch_execute("alter database forgetful set synchronous_commit = off").await.unwrap();
    let error = error_at(&server.url_of(&database)).await;
    assert!(matches!(error, PostgresError::NotDurable), "{error}");
    assert!(error.to_string().contains("synchronous_commit"), "{error}");
    let client = connect(&server.url_of(&database)).await.unwrap();
    let made = client.query_one("select to_regclass('insomnia_schema') is not null", &[]).await.unwrap();
    assert!(!made.get::<_, bool>(0), "something was made");

    // a server that is changed later
    client.batch_execute("alter database forgetful reset synchronous_commit").await.unwrap();
    let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
    sessions.open("kept", PostgresOptions::new()).await.unwrap().store.close().await.unwrap();
    client.batch_execute("alter database forgetful set synchronous_commit = off").await.unwrap();
    for what in ["open", "copy", "tell"] {
        let sessions = PostgresSessions::connect(&server.url_of(&database)).unwrap();
        let outcome = match what {
            "open" => sessions.open("kept", PostgresOptions::new()).await.map(|_| ()),
            "copy" => sessions.create("other", &Header::new(None), &[]).await,
            _ => sessions.notify("kept", "hello").await,
        };
        assert!(matches!(outcome, Err(PostgresError::NotDurable)), "{what}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_encoding_that_cannot_hold_every_text() {
    let server = server!();
    let options = "encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0";
    let database = server.database("western", options).await;
    let error = error_at(&server.url_of(&database)).await;
    assert!(matches!(&error, PostgresError::Encoding { found } if found == "LATIN1"), "{error}");
}

#[tokio::test]
async fn a_user_who_may_not_make_tables() {
    let server = server!();
    let database = server.database("guarded", "").await;
    let admin = connect(&server.url_of(&database)).await.unwrap();
    admin.batch_execute("create role guest login password 'guest'").await.unwrap();
    let url = server.url_of(&database).replace("tester@", "guest:guest@");
    let error = error_at(&url).await;
    assert!(matches!(error, PostgresError::Schema { found: 0, wanted: 3, .. }), "{error}");
    assert!(error.to_string().contains("schema_sql"), "{error}");

    admin.batch_execute(&PostgresStore::schema_sql()).await.unwrap();
    admin.batch_execute("grant select, insert, update, delete on all tables in schema public to guest").await.unwrap();
    PostgresSessions::connect(&url).unwrap().open("allowed", PostgresOptions::new()).await.unwrap();
}

#[tokio::test]
async fn a_schema_of_its_own_and_one_that_is_not_there() {
    let server = server!();
    let database = server.database("apart", "").await;
    let admin = connect(&server.url_of(&database)).await.unwrap();
    let make = "create role apart login password 'apart'; create schema agents authorization apart;
        revoke create on schema public from public";
    admin.batch_execute(make).await.unwrap();
    let url = |path: &str| {
        let url = server.url_of(&database).replace("tester@", "apart:apart@");
        format!("{url}?options=-csearch_path%3D{path}")
    };
    for path in ["nowhere", "public", "pg_catalog"] {
        let error = error_at(&url(path)).await;
        assert!(matches!(error, PostgresError::Schema { found: 0, .. }), "{path}: {error}");
    }
    let sessions = PostgresSessions::connect(&url("agents,public")).unwrap();
    let store = sessions.open("apart", PostgresOptions::new()).await.unwrap().store;
    store.append(&crate::storage::entry(1, "x"));
    store.close().await.unwrap();
    let found = "select count(*) from agents.insomnia_items where session_id = 'apart'";
    assert_eq!(admin.query_one(found, &[]).await.unwrap().get::<_, i64>(0), 2);

    // who may connect to the server, but not to this database
    admin.batch_execute("revoke connect on database apart from public").await.unwrap();
    let error = error_at(&url("agents")).await;
    assert!(matches!(&error, PostgresError::Refused { source, .. } if source.sql_state() == Some("42501")), "{error}");
}

#[tokio::test]
async fn a_server_that_takes_no_changes() {
    let server = server!();
    let database = server.database("standby", "").await;
    let sessions = || PostgresSessions::connect(&server.url_of(&database)).unwrap();
    let held = sessions().open("before", PostgresOptions::new()).await.unwrap();
    let read_only = |word: &str| format!("alter database standby set default_transaction_read_only = {word}");
    server.client().await.batch_execute(&read_only("on")).await.unwrap();
    let error = sessions().open("after", PostgresOptions::new()).await.unwrap_err();
    assert!(matches!(&error, PostgresError::Refused { source, .. } if source.sql_state() == Some("25006")), "{error}");
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(sessions().read_records("before").await.unwrap().next_seq, 1);

    // an owner whose server became one goes on when a new connection leads to one that does
    let client = connect(&server.url_of(&database)).await.unwrap();
    let ended =
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'standby' and pid <> pg_backend_pid()";
    client.query(ended, &[]).await.unwrap();
    held.store.append(&crate::storage::entry(1, "x"));
    let refused = held.store.flush().await.unwrap_err();
    assert!(refused.to_string().contains("25006"), "{refused}");
    server.client().await.batch_execute(&read_only("off")).await.unwrap();
    held.store.flush().await.unwrap();
    assert_eq!(sessions().read_records("before").await.unwrap().next_seq, 2);
}

#[tokio::test]
async fn names_that_are_none() {
    let sessions = server!().sessions();
    for name in ["", "a\0b", &"x".repeat(201)] {
        let error = sessions.open(name, PostgresOptions::new()).await.unwrap_err();
        assert!(matches!(error, PostgresError::Name { .. }), "{error}");
    }
    let error = sessions.read("never made").await.unwrap_err();
    assert!(matches!(error, PostgresError::Missing { .. }), "{error}");
}
