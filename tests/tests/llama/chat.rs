use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{MODEL, llama::root};

/// The chat binary on one session.
pub(crate) struct Chat {
    binary: PathBuf,
    folder: PathBuf,
    options: Vec<String>,
}

impl Chat {
    pub(crate) fn new(folder: &Path, base_url: &str, stream: bool) -> Self {
        let mut options = ["--base-url", base_url, "--api-key", "none", "--model", MODEL].map(str::to_owned).to_vec();
        options.extend(["--inactivity", "1", "--cooldown", "1"].map(str::to_owned));
        if !stream {
            options.push("--no-stream".to_owned());
        }
        Self { binary: binary(), folder: folder.to_owned(), options }
    }

    /// Runs these prompts: exit code, standard output, standard error.
    pub(crate) fn prompt(&self, prompts: &[&str], more: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(&self.binary);
        command.args(&self.options).args(more).arg("--session").arg(&self.folder).stdin(Stdio::null());
        command.args(prompts.iter().flat_map(|prompt| ["-p", prompt]));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// The session's messages as the binary prints them.
    pub(crate) fn history(&self) -> String {
        let output = Command::new(&self.binary).arg("history").arg("--session").arg(&self.folder).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The binary, built if need be.
fn binary() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    let build = build.args(["build", "--quiet", "-p", "insomnia-tasks-examples", "--bin", "chat"]).current_dir(root());
    assert!(build.status().unwrap().success());
    // this test lies in target/<profile>/deps
    let deps = std::env::current_exe().unwrap();
    let target = deps.ancestors().nth(3).unwrap();
    target.join("debug").join(format!("chat{}", std::env::consts::EXE_SUFFIX))
}
