use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// A running llama.cpp server. Dropping it stops it.
pub(crate) struct Llama {
    server: Child,
    address: String,
}

impl Llama {
    /// Why there is none to start, if so.
    pub(crate) fn installed() -> Result<(), String> {
        match python().is_file() {
            true => Ok(()),
            false => Err("llama.cpp's server is not installed; run `tests/llama/setup.sh`".to_owned()),
        }
    }

    /// A server with the model's `own` chat template or with a `strict` one.
    pub(crate) fn start(template: &str) -> Self {
        let script = root().join("tests/llama/serve.py");
        let mut command = Command::new(python());
        let command =
            command.arg(script).arg(template).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| Some(line.unwrap().strip_prefix("http://")?.to_owned())).expect("an address");
        Self { server, address: url.trim_end_matches("/v1").to_owned() }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The workspace.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn python() -> PathBuf {
    root().join("target/llama/venv/bin/python")
}
