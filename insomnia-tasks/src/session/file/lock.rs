use std::{
    env, fmt, fs, process,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// Who has a session open, as they noted it themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Holder {
    /// The process id.
    pub pid: u32,
    /// The machine's name.
    pub host: String,
    /// Since when, in seconds since 1970.
    pub since: u64,
}

impl Holder {
    /// This process, from now on.
    pub(in crate::session) fn this_process() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self { pid: process::id(), host: host_name(), since }
    }

    /// The note to leave in the lock file.
    pub(super) fn to_note(&self) -> Vec<u8> {
        serde_json::json!({"pid": self.pid, "host": self.host, "since": self.since}).to_string().into_bytes()
    }

    /// Reads a note; none if it is not whole, as while its writer is at it.
    pub(super) fn from_note(note: &[u8]) -> Option<Self> {
        serde_json::from_slice(note).ok()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)?;
        // beyond the year 9999 a date has no such form
        if self.since < 253_402_300_800 {
            let since = UNIX_EPOCH + Duration::from_secs(self.since);
            write!(f, " since {}", httpdate::fmt_http_date(since))?;
        }
        Ok(())
    }
}

fn host_name() -> String {
    let from_files =
        ["/proc/sys/kernel/hostname", "/etc/hostname"].into_iter().map(|path| fs::read_to_string(path).ok());
    let from_env = ["HOSTNAME", "COMPUTERNAME"].into_iter().map(|name| env::var(name).ok());
    let mut names = from_files.chain(from_env).flatten().map(|name| name.trim().to_owned());
    names.find(|name| !name.is_empty()).unwrap_or_else(|| "an unnamed host".to_owned())
}
