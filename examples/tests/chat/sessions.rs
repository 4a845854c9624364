use std::fs;

use insomnia_tasks_examples::scripted::{Gate, Reply};
use serde_json::Value;

use crate::place::{Place, create, prompts, raw_messages, server};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_made_and_resumed() {
    let place = Place::new();
    let deep = place.path("a/b c/it's");
    let deep = deep.to_str().unwrap();
    let server = server(vec![create("Tidy up"), Reply::text("one"), Reply::text("two")]).await;
    let first = place.bare(&["--base-url", &server.base_url(), "--session", deep, "-p", "A"]).run().ended(0);
    assert!(first.stderr.contains(r"--session '") && first.stderr.contains(r"it'\''s' --base-url http"), "{first:?}");
    let again = place.bare(&["--base-url", &server.base_url(), "--session", deep, "-p", "B"]).run().ended(0);
    again.told(&["resumed", "4 messages", " 1 Tidy up"]);
    let requests: Vec<_> = server.requests().iter().map(raw_messages).collect();
    assert!(requests[1].starts_with(&requests[0]));
    assert!(requests[2].starts_with(&requests[1]));
    assert_eq!(requests[2].len(), requests[1].len() + 2);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn go_on_with_the_line_that_is_printed() {
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    let ran = place.bare(&["--base-url", &server.base_url(), "-p", "A"]).run().ended(0);
    let line = ran.stderr.lines().last().unwrap().trim();
    let program = place.program("/bin/sh").args(&["-c", &format!("{line} -p B")]);
    assert_eq!(program.run().ended(0).stdout, "two\n");
    assert_eq!(prompts(&server.requests()[1]), ["A", "B"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_private_below_the_data_folder() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let server = server(vec![Reply::text("one"), Reply::text("two")]).await;
    for _ in 0..2 {
        place.bare(&["--base-url", &server.base_url(), "-p", "A"]).run().ended(0);
    }
    let all = place.path("home/data/insomnia-tasks/sessions");
    let sessions: Vec<_> = fs::read_dir(&all).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        assert_eq!(fs::metadata(&session).unwrap().permissions().mode() & 0o777, 0o700);
        let history = fs::metadata(session.join("history.json")).unwrap();
        assert_eq!(history.permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn are_listed_with_what_is_in_them() {
    let place = Place::new();
    let nothing = place.bare(&["sessions"]).run().ended(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("no sessions in"), "{nothing:?}");
    let server = server(vec![create("Tidy up"), Reply::text("one"), Reply::text("two")]).await;
    for prompts in [&["-p", "A"][..], &["-p", "B"]] {
        place.bare(&[&["--base-url", &server.base_url()], prompts].concat()).run().ended(0);
    }
    let listed = place.bare(&["sessions"]).run().ended(0).stdout;
    let lines: Vec<_> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines.iter().all(|line| line.contains(" 1 turn ") && line.contains(" B  /")), "{listed}");
    // the latest first
    assert!(lines[0].contains(" 0 open tasks") && lines[1].contains(" 1 open task "), "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn keep_their_instructions_until_told_others() {
    let place = Place::new();
    let server = server(vec![Reply::text("hi"); 5]).await;
    for flags in [
        vec!["-p", "A", "--instructions", "Be brief."],
        vec!["-p", "A"],
        vec!["-p", "A", "--instructions", "Be long."],
        vec!["-p", "A"],
    ] {
        place.chat(&server, &flags).run().ended(0);
    }
    let system: Vec<_> = server.requests().iter().map(|request| request.messages()[0].clone()).collect();
    assert!(system.iter().all(|message| message["role"] == "system"));
    let texts: Vec<_> = system.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Be brief.", "Be brief.", "Be long.", "Be long."]);
    // the default is for new sessions
    place.bare(&["--base-url", &server.base_url(), "-p", "A"]).run().ended(0);
    assert!(server.requests()[4].messages()[0]["content"].as_str().unwrap().contains("task list"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn have_one_writer_and_any_number_of_readers() {
    let place = Place::new();
    let gate = Gate::new();
    let server = server(vec![create("Tidy up"), Reply::text("late").hold(&gate)]).await;
    let running = place.chat(&server, &["-p", "A"]).start();
    server.wait_for_requests(2).await;

    let pid = format!("process {} ", running.child.id());
    let second = place.chat(&server, &["-p", "B"]).run().ended(3).told(&["in use by", &pid, "another folder"]);
    assert_eq!(second.stdout, "");
    let session = place.session();
    let read = |what: &str| -> Vec<Value> {
        let ran = place.bare(&[what, "--session", session.to_str().unwrap()]).run().ended(0);
        assert_eq!(ran.stderr, "");
        serde_json::from_str(&ran.stdout).unwrap()
    };
    assert_eq!(read("tasks")[0]["subject"], "Tidy up");
    assert_eq!(read("history").len(), 3);

    gate.open();
    assert_eq!(running.finish().ended(0).stdout, "late\n");
    assert_eq!(read("history").len(), 4);
    place.chat(&server, &[]).run().ended(0);
}
