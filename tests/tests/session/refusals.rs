use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use insomnia_tasks::session::{Entry, EntryBody, FileOptions, FileStore, OpenErrorKind, Storage};
use insomnia_tasks_examples::scripted::{Reply, ScriptedServer};

use crate::support::{builder, open};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_session_is_left_as_it_is_and_named() {
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let header = r#"[{"record":"header","format":2,"session":"s","created":1}"#;
    for (text, says) in [
        (r#"[{"role":"user","content":"of someone else"}]"#, "not a session's history"),
        ("dear diary", "not a session's history"),
        (&format!("{header}\n]\n"), "format 2"),
        (r#"[{"record":"header","for"#, "first line"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.json");
        fs::write(&path, text).unwrap();
        let error = builder(&server, folder.path()).build().await.unwrap_err().to_string();
        assert!(error.contains(says) && error.contains(path.to_str().unwrap()), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| name == "history.json" || name == "history.lock"), "nothing was made");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("history.json")).unwrap();
    let error = builder(&server, folder.path()).build().await.unwrap_err().to_string();
    assert!(error.contains("not a session's history"), "{error}");
    fs::write(folder.path().join("file"), "mine").unwrap();
    let error = builder(&server, &folder.path().join("file")).build().await.unwrap_err().to_string();
    assert!(error.contains("is a file, but a session is a folder"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_line_in_the_middle_costs_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(Reply::text("hi")).await.unwrap();
    let pod = open(&server, folder.path()).await;
    pod.run("one").await.unwrap();
    pod.run("two").await.unwrap();
    pod.close().await.unwrap();
    drop(pod);
    let path = folder.path().join("history.json");
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().nth(3).unwrap();
    let damaged = text.replace(line, &line.replace("\"message\"", "\"mess"));
    fs::write(&path, &damaged).unwrap();

    let pod = open(&server, folder.path()).await;
    assert!(pod.damage()[0].to_string().starts_with("line 4 was skipped"), "{:?}", pod.damage());
    assert_eq!(pod.history().len(), 3);
    pod.run("three").await.unwrap();
    let now = fs::read_to_string(&path).unwrap();
    assert!(now.starts_with(damaged.strip_suffix("\n]\n").unwrap()), "its bytes are kept");
    let messages = server.requests().pop().unwrap().messages();
    assert_eq!(messages.len(), 5);
}

/// A mount that is read only, in a name space of the child's own, binds root too; others see nothing of it.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    drop(FileStore::open(folder.path(), FileOptions::new()).unwrap());
    let before = fs::read(folder.path().join("history.json")).unwrap();
    let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\"";
    let unshared = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(folder.path());
        unshare
    };
    if !unshared(mount).output().is_ok_and(|output| output.status.success()) {
        let why = "skipped: this user cannot make a mount that is read only";
        assert!(std::env::var_os("INSOMNIA_TESTS_REQUIRE_ALL").is_none(), "{why}");
        println!("{why}");
        return;
    }
    let child = unshared(&format!("{mount} && exec \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "refusals::is_refused_a_folder", "--ignored", "--nocapture"])
        .env("INSOMNIA_TEST_SESSION", folder.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    assert!(String::from_utf8_lossy(&child.stdout).contains("was refused"), "the child did nothing");
    assert_eq!(fs::read(folder.path().join("history.json")).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "the history, the lock and the reserve");
}

#[test]
#[ignore = "the child of another test"]
fn is_refused_a_folder() {
    let Ok(folder) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let error = FileStore::open(Path::new(&folder), FileOptions::new()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::NotWritable, "{error}");
    assert!(error.to_string().contains(&folder) && error.to_string().contains("write access"), "{error}");
    let error = FileStore::open(&Path::new(&folder).join("new"), FileOptions::new()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::CreateFolder, "{error}");
    assert!(error.to_string().contains("choose a place that this user can write to"), "{error}");
    assert_eq!(FileStore::read(Path::new(&folder)).unwrap().next_seq, 1, "it can be read all the same");
    println!("\nwas refused");
}

/// A process of its own that has the session open and appends a message for each line that it is sent.
struct Owner {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Owner {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "refusals::owns_a_session", "--ignored", "--nocapture"])
            .env("INSOMNIA_TEST_SESSION", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut owner = Self { child, input, lines: BufReader::new(output).lines() };
        owner.wait_for("open");
        owner
    }

    fn wait_for(&mut self, word: &str) {
        assert!(self.lines.any(|line| line.unwrap().ends_with(word)), "{word}");
    }

    #[cfg(unix)]
    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

#[test]
#[ignore = "the child of another test"]
fn owns_a_session() {
    let Ok(folder) = std::env::var("INSOMNIA_TEST_SESSION") else { return };
    let opened = FileStore::open(Path::new(&folder), FileOptions::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    println!("\nopen");
    for (seq, line) in (opened.session.next_seq..).zip(std::io::stdin().lines()) {
        let item = insomnia_tasks::Item::user_message(line.unwrap());
        opened.store.append(&Entry::new(seq, 1, EntryBody::Item(item)));
        runtime.block_on(opened.store.flush()).unwrap();
        println!("\nkept");
        std::io::stdout().flush().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_stopped_owner_keeps_its_session_and_a_killed_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = Owner::start(folder.path());
    writeln!(owner.input, "one").unwrap();
    owner.wait_for("kept");
    owner.signal("-STOP");
    let error = FileStore::open(folder.path(), FileOptions::new()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::InUse);
    assert!(error.to_string().contains(&format!("process {} on ", owner.child.id())), "{error}");
    assert_eq!(FileStore::read(folder.path()).unwrap().entries.len(), 1);
    owner.signal("-CONT");
    writeln!(owner.input, "two").unwrap();
    owner.wait_for("kept");
    owner.child.kill().unwrap();
    owner.child.wait().unwrap();
    let opened = FileStore::open(folder.path(), FileOptions::new()).unwrap();
    assert_eq!(opened.session.entries.len(), 2);
}
