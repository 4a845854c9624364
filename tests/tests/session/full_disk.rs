use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use insomnia_tasks::{session::FileStore, worker::TurnError};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};

use crate::support::{check_pairs, open, records};

/// The limit on a file's size stands for the full disk; the system's answer takes the same way.
#[test]
fn i15_a_full_disk_ends_the_turn_before_the_request_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -S -f 64; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::works_with_little_room", "--ignored", "--nocapture"])
        .env("INSOMNIA_TEST_SESSION", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("full")), "the child failed");
    // what stands in the file meanwhile
    records(folder.path());
    assert!(FileStore::read(folder.path()).unwrap().damage.is_empty());
    let process = child.id().to_string();
    assert!(Command::new("prlimit").args(["--pid", &process, "--fsize=unlimited"]).status().unwrap().success());
    writeln!(child.stdin.take().unwrap(), "there is room").unwrap();
    assert!(lines.any(|line| line.unwrap().ends_with("goes on")), "the child failed");
    assert!(child.wait().unwrap().success());
    assert!(FileStore::read(folder.path()).unwrap().damage.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the child of another test"]
async fn works_with_little_room() {
    let Ok(folder) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let pod = open(&server, Path::new(&folder)).await;
    pod.run("small").await.unwrap();
    for attempt in 0..2 {
        let error = pod.run(format!("large {attempt} {}", "x".repeat(100_000))).await.unwrap_err();
        assert!(matches!(error, TurnError::Journal(_)), "{error}");
        assert!(error.to_string().contains("no room") && error.to_string().contains("not sent"), "{error}");
        assert_eq!(server.requests().len(), 1, "nothing was sent");
        assert_eq!(records(Path::new(&folder)).len(), 3);
    }
    println!("\nfull");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    pod.run("small again").await.unwrap();
    let messages = server.requests()[1].messages();
    check_pairs(&messages);
    assert_eq!(messages.iter().filter(|message| message["role"] == "user").count(), 4);
    assert_eq!(records(Path::new(&folder)).len(), 7);
    pod.close().await.unwrap();
    println!("\ngoes on");
}
