//! The commands that the guide gives for a server of one's own, as they stand there.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

use crate::{
    place::Place,
    server::{own, shared, unprivileged},
};

const GUIDE: &str = include_str!("../../../insomnia-tasks/src/docs/postgres.md");

#[test]
fn a_server_without_docker_starts_and_keeps_a_session() {
    if shared().is_none() {
        return;
    }
    let block = GUIDE.split("```sh\n").find(|block| block.contains("initdb")).unwrap().split("```").next().unwrap();
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port().to_string();
    assert!(block.contains("5433") && block.contains("secret") && !block.contains("docker"), "{block}");
    let place = Place::new();
    let home = place.path("home");
    let mut folder = home.as_path();
    while fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).is_ok() && folder != place.path("") {
        folder = folder.parent().unwrap();
    }
    own(&home);
    fs::copy(env!("CARGO_BIN_EXE_chat"), home.join("chat")).unwrap();
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap());
    let script = format!("set -eu\n{}", block.replace("5433", &port));
    let mut shell = unprivileged(Path::new("sh"));
    let shell =
        shell.args(["-c", &script]).current_dir(&home).env("HOME", &home).env("PATH", path).stdin(Stdio::null());
    let ran = shell.env("XDG_DATA_HOME", home.join("data")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stdout));
    // the demo, which needs no model
    assert!(String::from_utf8_lossy(&ran.stdout).contains("Tasks 1, 2 and 3 are completed"), "{ran:?}");
    assert!(!said.contains("secret"), "{said}");
}
