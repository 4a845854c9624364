use std::{
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use insomnia_tasks_examples::scripted::{Gate, RecordedRequest, Reply, ScriptedServer};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tempfile::TempDir;

/// Far more than any of these programs needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A home folder, a folder to work in and a session folder, for one test.
pub(crate) struct Place {
    folder: TempDir,
}

/// A program that is about to run, with nothing of the test's own environment.
pub(crate) struct Program {
    pub(crate) command: Command,
    stdin: Vec<u8>,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The session folder that [`chat`](Self::chat) uses; absent at first.
    pub(crate) fn session(&self) -> PathBuf {
        self.path("session")
    }

    pub(crate) fn program(&self, path: &str) -> Program {
        let mut command = Command::new(path);
        command.env_clear().env("HOME", self.path("home")).env("XDG_DATA_HOME", self.path("home/data"));
        command.current_dir(self.path("work"));
        Program { command, stdin: Vec::new() }
    }

    /// `chat` with these flags and no more.
    pub(crate) fn bare(&self, flags: &[&str]) -> Program {
        self.program(env!("CARGO_BIN_EXE_chat")).args(flags)
    }

    /// `chat` on this server with the test's session.
    pub(crate) fn chat(&self, server: &ScriptedServer, flags: &[&str]) -> Program {
        let (base_url, session) = (server.base_url(), self.session());
        self.bare(&["--base-url", &base_url, "--session", session.to_str().unwrap()]).args(flags)
    }

    pub(crate) fn history_file(&self) -> String {
        fs::read_to_string(self.session().join("history.json")).unwrap()
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        serde_json::from_str(&self.history_file()).unwrap()
    }
}

impl Program {
    pub(crate) fn args(mut self, more: &[&str]) -> Self {
        self.command.args(more);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_vec();
        self
    }

    /// Starts it and leaves its stdin open.
    pub(crate) fn start(mut self) -> Running {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let _ = child.stdin.as_mut().unwrap().write_all(&self.stdin);
        Running { child, seen: Vec::new() }
    }

    pub(crate) fn run(self) -> Ran {
        self.start().finish()
    }
}

/// A program that runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    seen: Vec<u8>,
}

impl Running {
    /// Returns as soon as stdout has said this.
    pub(crate) fn says(&mut self, text: &str) {
        let mut byte = [0];
        while !self.seen.windows(text.len()).any(|window| window == text.as_bytes()) {
            let read = self.child.stdout.as_mut().unwrap().read(&mut byte).unwrap();
            assert_eq!(read, 1, "stdout ended: {}", String::from_utf8_lossy(&self.seen));
            self.seen.push(byte[0]);
        }
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Closes its stdin and waits for its end.
    pub(crate) fn finish(mut self) -> Ran {
        drop(self.child.stdin.take());
        self.wait()
    }

    /// Waits for its end with its stdin open.
    pub(crate) fn wait(mut self) -> Ran {
        let (sender, ended) = mpsc::channel();
        let stdin = self.child.stdin.take();
        thread::spawn(move || sender.send(self.child.wait_with_output().map(|output| (output, self.seen))));
        let (output, mut stdout) = ended.recv_timeout(PATIENCE).expect("the program does not end").unwrap();
        drop(stdin);
        stdout.extend(output.stdout);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran { code: output.status.code(), stdout: text(stdout), stderr: text(output.stderr) };
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        ran
    }
}

impl Ran {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Checks that stderr says all of this.
    #[track_caller]
    pub(crate) fn told(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in {self:?}");
        }
        self
    }
}

pub(crate) async fn server(replies: Vec<Reply>) -> ScriptedServer {
    ScriptedServer::start(replies).await.unwrap()
}

/// Begins an answer of at most three words and never ends it.
pub(crate) fn half(text: &str) -> Reply {
    Reply::text(text).hold_chunk(2, &Gate::new())
}

pub(crate) fn create(subject: &str) -> Reply {
    Reply::calls([("TaskCreate", json!({"subject": subject, "description": ""}))])
}

pub(crate) fn list() -> Reply {
    Reply::calls([("TaskList", json!({}))])
}

/// The texts of the user's messages of a request.
pub(crate) fn prompts(request: &RecordedRequest) -> Vec<String> {
    let messages = request.messages();
    let users = messages.iter().filter(|message| message["role"] == "user");
    users.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// The messages of a request as their exact texts.
pub(crate) fn raw_messages(request: &RecordedRequest) -> Vec<String> {
    #[derive(Deserialize)]
    struct Body {
        messages: Vec<Box<RawValue>>,
    }
    let body: Body = serde_json::from_slice(&request.body).unwrap();
    body.messages.iter().map(|message| message.get().to_owned()).collect()
}
