use serde::{Deserialize, Serialize};

use crate::wire::{Dialect, host_of};

/// What a server turned out to want on the wire, after it refused something else. Kept with the session, so that a resumed
/// one starts right; for another server or another model it says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LearnedDialect {
    /// The server's host, without the port: a local server may come back on another one.
    #[serde(default)]
    pub server: String,
    /// The model's name.
    #[serde(default)]
    pub model: String,
    /// What to speak there.
    #[serde(flatten)]
    pub dialect: Dialect,
}

impl LearnedDialect {
    /// What was learned about this server and model.
    pub fn new(base_url: &str, model: &str, dialect: Dialect) -> Self {
        Self { server: host_of(base_url), model: model.to_owned(), dialect }
    }

    /// Whether it was learned about this server and model.
    pub fn is_about(&self, base_url: &str, model: &str) -> bool {
        self.server == host_of(base_url) && self.model == model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_about_one_server_and_model() {
        let learned = LearnedDialect::new("http://127.0.0.1:8080/v1", "m", Dialect::default());
        assert!(learned.is_about("http://127.0.0.1:9090/v1", "m"));
        assert!(!learned.is_about("http://127.0.0.1:8080/v1", "other"));
        assert!(!learned.is_about("https://api.mistral.ai/v1", "m"));
    }

    #[test]
    fn it_reads_back_and_is_one_flat_object() {
        let learned = LearnedDialect::new("https://API.example/v1", "m", Dialect::preset("mistral").unwrap());
        let json = serde_json::to_string(&learned).unwrap();
        assert!(json.starts_with(r#"{"server":"api.example","model":"m","late_system":"merge""#), "{json}");
        assert_eq!(serde_json::from_str::<LearnedDialect>(&json).unwrap(), learned);
    }
}
