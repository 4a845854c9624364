use super::settings::Dialect;

/// Hosts and their presets. A leading `-` marks the end of a host's first label (`us-central1-aiplatform…`); all other
/// entries also stand for their subdomains.
const HOSTS: [(&str, &str); 18] = [
    ("api.openai.com", "openai"),
    ("openai.azure.com", "openai"),
    ("mistral.ai", "mistral"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("aiplatform.googleapis.com", "gemini"),
    ("-aiplatform.googleapis.com", "gemini"),
    ("api.anthropic.com", "anthropic"),
    ("api.groq.com", "groq"),
    ("api.cerebras.ai", "cerebras"),
    ("api.deepseek.com", "deepseek"),
    ("api.moonshot.ai", "kimi"),
    ("api.moonshot.cn", "kimi"),
    ("minimax.io", "minimax"),
    ("minimaxi.com", "minimax"),
    ("minimax.chat", "minimax"),
    ("dashscope.aliyuncs.com", "qwen"),
    ("dashscope-intl.aliyuncs.com", "qwen"),
    ("dashscope-us.aliyuncs.com", "qwen"),
];

/// Words of model names and their presets; of several, the first entry here counts.
const FAMILIES: [(&[&str], &str); 8] = [
    (&["mistral", "mistralai", "mixtral", "ministral", "magistral", "devstral", "codestral", "pixtral"], "mistral"),
    (&["gemma", "codegemma", "functiongemma", "medgemma", "shieldgemma"], "gemma"),
    (&["qwen", "qwq", "qvq"], "qwen"),
    (&["deepseek"], "deepseek"),
    (&["kimi", "moonshotai"], "kimi"),
    (&["minimax", "minimaxai"], "minimax"),
    (&["gemini"], "gemini"),
    (&["claude"], "anthropic"),
];

impl Dialect {
    /// The dialect for a server and a model: by the host where it is known, else by the model's family, else the
    /// `portable` preset.
    ///
    /// The URL may lack its scheme. Nothing is looked up or contacted; the tables stand with [`Dialect`].
    pub fn detect(base_url: &str, model: &str) -> Dialect {
        let host = host_of(base_url);
        let name = HOSTS
            .iter()
            .find(|(pattern, _)| is_host(&host, pattern))
            .map_or_else(|| family_of(&host, model), |(_, preset)| preset);
        Dialect::preset(name).unwrap_or_default()
    }
}

fn is_host(host: &str, pattern: &str) -> bool {
    match host.strip_suffix(pattern) {
        Some(rest) => rest.is_empty() || rest.ends_with('.') || pattern.starts_with('-'),
        None => false,
    }
}

/// The host name of a URL in lower case, without user, port and trailing dot; empty where there is none.
pub(crate) fn host_of(url: &str) -> String {
    let url = url.trim();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest).trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn family_of(host: &str, model: &str) -> &'static str {
    let model = model.to_lowercase();
    let words: Vec<&str> = model.split(|c: char| !c.is_alphanumeric()).map(letters_at_start).collect();
    if words.windows(2).any(|pair| pair == ["gpt", "oss"]) {
        return "gpt-oss";
    }
    // elsewhere than behind this router, such a name may be the alias of any model
    if is_host(host, "openrouter.ai") && model.starts_with("openai/") {
        return "openai";
    }
    let family = FAMILIES.iter().find(|(names, _)| words.iter().any(|word| names.contains(word)));
    family.map_or("portable", |(_, preset)| preset)
}

/// `qwen` of `qwen3`: model names often join family and version.
fn letters_at_start(word: &str) -> &str {
    let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
    word.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, model: &str, preset: &str) {
        assert_eq!(Dialect::detect(url, model), Dialect::preset(preset).unwrap(), "{url} {model}");
    }

    #[test]
    fn every_table_entry_names_a_preset() {
        for (_, preset) in HOSTS {
            assert!(Dialect::preset(preset).is_some(), "{preset}");
        }
        for (_, preset) in FAMILIES {
            assert!(Dialect::preset(preset).is_some(), "{preset}");
        }
    }

    #[test]
    fn hosts_are_parsed_not_searched() {
        check("https://api.openai.com/v1", "gpt-5", "openai");
        check("HTTPS://User:Pw@API.OpenAI.com.:443/v1?x=1#y", "gpt-5", "openai");
        check("api.openai.com", "gpt-5", "openai");
        check("//eu.api.openai.com/v1", "gpt-5", "openai");
        check("https://my-team.openai.azure.com/openai/deployments/x", "anything", "openai");
        check("http://api.openai.com.evil.example/v1", "gpt-5", "portable");
        check("http://evil-api.openai.com.example", "gpt-5", "portable");
        check("http://notapi.openai.com.de", "gpt-5", "portable");
        check("http://my-api.openai.com", "gpt-5", "portable");
        check("http://example.org/api.openai.com", "gpt-5", "portable");
        check("http://api.openai.com@example.org/v1", "gpt-5", "portable");
        check("http://example.org\\@api.openai.com/v1", "gpt-5", "portable");
        check("http://[::1]:8080/v1", "gpt-5", "portable");
        check("", "gpt-5", "portable");
    }

    #[test]
    fn known_hosts_win_over_the_model() {
        check("https://api.mistral.ai/v1", "my-finetune", "mistral");
        check("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini-3-pro", "gemini");
        check("https://us-central1-aiplatform.googleapis.com/v1", "google/gemini-3", "gemini");
        check("https://aiplatform.googleapis.com/v1", "google/gemini-3", "gemini");
        check("https://api.groq.com/openai/v1", "openai/gpt-oss-120b", "groq");
        check("https://api.cerebras.ai/v1", "qwen-3-32b", "cerebras");
        check("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3-max", "qwen");
        check("https://storage.googleapis.com/", "m", "portable");
    }

    #[test]
    fn families_are_whole_words() {
        let local = "localhost:11434/v1";
        for (model, preset) in [
            ("qwen/qwen3-32b", "qwen"),
            ("Qwen2.5-7B-Instruct-GGUF", "qwen"),
            ("gpt-oss:20b", "gpt-oss"),
            ("openai/gpt-oss-120b", "gpt-oss"),
            ("mistralai/Mistral-7B", "mistral"),
            ("Mixtral_8x7B", "mistral"),
            ("mistral-nemo", "mistral"),
            ("hf.co/unsloth/Devstral-Small-2-24B", "mistral"),
            ("gemma3:27b", "gemma"),
            ("gemini-2.5-flash", "gemini"),
            ("claude-opus-4-6", "anthropic"),
            ("moonshotai/Kimi-K2", "kimi"),
            ("deepseek-v3.2", "deepseek"),
            ("llama3.2", "portable"),
            ("gpt-4o", "portable"),
            ("notqwen", "portable"),
            ("my-gptoss", "portable"),
            ("", "portable"),
        ] {
            check(local, model, preset);
        }
        check("https://openrouter.ai/api/v1", "openai/gpt-5", "openai");
        check("https://openrouter.ai/api/v1", "openai/gpt-oss-120b", "gpt-oss");
        check("https://openrouter.ai/api/v1", "mistralai/devstral-2512", "mistral");
    }
}
