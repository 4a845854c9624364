//! A pooler in transaction mode between: every statement may run on another connection of the server.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::Stdio,
    time::Duration,
};

use insomnia_tasks::{
    Pod,
    session::postgres::{PostgresOptions, PostgresSessions},
};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};
use serde_json::json;

use crate::{
    pods::client,
    server::{connect, own, server, skip, unprivileged},
};

#[tokio::test]
async fn a_session_works_behind_a_pooler_in_transaction_mode() {
    let server = server!();
    let program = Path::new("/usr/sbin/pgbouncer");
    if !program.exists() {
        return skip("pgbouncer");
    }
    let database = server.database("pooled", "").await;
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let settings = folder.path().join("pgbouncer.ini");
    // no prepared statement survives in it, and three connections serve all
    let text = format!(
        "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n\
         server_reset_query_always = 1\nserver_reset_query = DISCARD ALL\n",
        server.port
    );
    fs::write(&settings, text.replace("* = host=127.0.0.1", "* = user=tester host=127.0.0.1")).unwrap();
    own(folder.path());
    own(&settings);
    let mut pooler = unprivileged(program).arg("-q").arg(&settings).stderr(Stdio::null()).spawn().unwrap();
    let url = server.url_at(port, &database);
    for _ in 0..200 {
        if connect(&url).await.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }

    let sessions = PostgresSessions::connect(&url).unwrap();
    let turns = (0..6).map(|number| {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            let name = format!("pooled-{number}");
            let list = Reply::calls([("TaskList", json!({}))]);
            let model = ScriptedServer::start(vec![list.clone(), list, Reply::text("done")]).await.unwrap();
            let builder = Pod::builder(&client(&model.base_url()), "gpt-5-mini");
            let pod = builder.session_in_postgres(&sessions, &name, PostgresOptions::new()).build().await.unwrap();
            sessions.notify(&name, "hello").await.unwrap();
            pod.run("go").await.unwrap();
            let stored = sessions.read(&name).await.unwrap();
            assert_eq!(stored.items().len(), 7);
        })
    });
    for turn in futures_util::future::join_all(turns).await {
        turn.unwrap();
    }
    assert_eq!(sessions.list("", 100).await.unwrap().len(), 6);
    pooler.kill().unwrap();
    pooler.wait().unwrap();
}
