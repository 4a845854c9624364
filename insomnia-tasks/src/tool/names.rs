use super::clip::clip;

const LISTED: usize = 20;

/// The one known name that was most likely meant: the same but for case, `_` and `-`, a prefix such as `functions.`, or a
/// control token that leaked into the name.
pub(super) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = bare(name);
    let mut candidates = known.filter(|known| bare(known) == wanted);
    let found = candidates.next()?;
    candidates.next().is_none().then_some(found)
}

/// Tells the model that there is no such tool, and which there are.
pub(super) fn unknown_tool<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let shown = clip(name, 80);
    let mut message = format!("there is no tool named `{shown}`; nothing was run.");
    if let Some(meant) = closest(name, known.clone()) {
        message.push_str(&format!(" Did you mean `{meant}`?"));
    }
    let total = known.clone().count();
    if total == 0 {
        message.push_str(" No tools are offered.");
        return message;
    }
    let names = known.take(LISTED).collect::<Vec<_>>().join(", ");
    message.push_str(&format!(" The tools are: {names}"));
    if total > LISTED {
        message.push_str(&format!(" and {} more", total - LISTED));
    }
    message.push('.');
    message
}

fn bare(name: &str) -> String {
    let name = name.split("<|").next().unwrap_or_default();
    let name = name.rsplit(['.', ':', '/']).next().unwrap_or_default();
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["TaskCreate", "TaskList", "a_b", "a-b"];

    #[test]
    fn finds_what_was_meant() {
        for (name, meant) in [
            ("taskcreate", Some("TaskCreate")),
            ("task_create", Some("TaskCreate")),
            ("functions.TaskCreate", Some("TaskCreate")),
            ("TaskList<|channel|>commentary", Some("TaskList")),
            ("ab", None),
            ("Task", None),
            ("", None),
        ] {
            assert_eq!(closest(name, KNOWN.into_iter()), meant, "{name}");
        }
    }

    #[test]
    fn lists_at_most_twenty() {
        let many: Vec<_> = (0..25).map(|n| format!("t{n}")).collect();
        let message = unknown_tool(&"x".repeat(500), many.iter().map(String::as_str));
        assert!(message.contains("t19 and 5 more.") && !message.contains("t20"), "{message}");
        assert!(message.len() < 400, "{message}");
        assert!(unknown_tool("x", [].into_iter()).ends_with("No tools are offered."));
    }
}
