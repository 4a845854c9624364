//! Databases that cannot be used: each says why and what to do.

use insomnia_tasks::{
    Pod,
    pod::PodError,
    session::postgres::{PostgresError, PostgresOptions, PostgresSessions, PostgresStore},
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
    assert!(client.query("select 1 from insomnia_sessions", &[]).await.unwrap().is_empty(), "something was made");
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
    assert!(matches!(error, PostgresError::Schema { found: 0, wanted: 1, .. }), "{error}");
    assert!(error.to_string().contains("schema_sql"), "{error}");

    admin.batch_execute(&PostgresStore::schema_sql()).await.unwrap();
    admin.batch_execute("grant select, insert, update, delete on all tables in schema public to guest").await.unwrap();
    PostgresSessions::connect(&url).unwrap().open("allowed", PostgresOptions::new()).await.unwrap();
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
