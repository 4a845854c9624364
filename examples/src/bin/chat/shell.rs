//! The command line that goes on with a session, to be copied.

use std::env;

use crate::{args::Args, endpoint::Endpoint, session::Opened};

/// How to go on with this session: the program as it was called, and the flags that choose session, server and model. Keys and
/// passwords are left out.
pub(crate) fn resume_command(args: &Args, endpoint: &Endpoint, opened: &Opened) -> String {
    let program = env::args().next().unwrap_or_else(|| "chat".to_owned());
    let mut words = vec![program, "--session".to_owned(), opened.place.clone()];
    let base_url = args.base_url.as_ref().map(|_| endpoint.shown_url());
    for (flag, value) in [("--base-url", &base_url), ("--model", &args.model)] {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    if args.demo {
        words.push("--demo".to_owned());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it back.
#[cfg(not(windows))]
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word as both shells of Windows read it back.
#[cfg(windows)]
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || r"/\._-:=+".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("\"{word}\"") }
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_what_a_shell_would_change() {
        for plain in ["/tmp/a-b_1.2", "http://127.0.0.1:1/v1", "--model", "Qwen/Qwen3-8B"] {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("~/x"), "'~/x'");
    }
}
