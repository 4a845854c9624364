//! What can be typed at the prompt beside prompts.

/// A command, what may stand behind it, and what it does.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    arguments: &'static str,
    what: &'static str,
    /// The words that may follow.
    pub(crate) words: &'static [&'static str],
}

const fn command(name: &'static str, arguments: &'static str, what: &'static str) -> Command {
    Command { name, arguments, what, words: &[] }
}

pub(crate) const COMMANDS: [Command; 10] = [
    Command { words: &["all", "add", "start", "done", "delete"], ..command("/tasks", "[all]", "the task list") },
    command("/last", "[N]", "open the last tool call, or the one N calls ago; so does Ctrl-O"),
    command("/history", "", "what was said, one line a message"),
    Command { words: &["on", "off"], ..command("/reminders", "on|off", "whether the model is reminded of open tasks") },
    command("/compact", "", "send a summary in place of the older turns"),
    command("/rewind", "[N]", "go back N turns, or one"),
    command("/fork", "DIR", "a new session in DIR that begins with this one"),
    command("/help", "", "this list"),
    command("/quit", "", "leave; so does Ctrl-D"),
    command("/exit", "", "leave"),
];

/// The text of `/help`.
pub(crate) fn help() -> String {
    let mut lines: Vec<_> = COMMANDS
        .iter()
        .filter(|command| command.name != "/exit")
        .flat_map(|command| {
            let mut lines = vec![line(&format!("{} {}", command.name, command.arguments), command.what)];
            if command.name == "/tasks" {
                lines.push(line("/tasks add TEXT", "a new task"));
                lines.push(line("/tasks done N...", "complete tasks; or start, or delete them"));
            }
            lines
        })
        .collect();
    lines.push(
        "Anything else is a prompt. A line that ends with \\ goes on in the next; so does Alt-Enter. Tab completes commands.\n\
         Ctrl-C cancels the turn that runs or gives up the line that was begun, a second one leaves."
            .to_owned(),
    );
    lines.join("\n")
}

fn line(usage: &str, what: &str) -> String {
    format!("{usage:<19} {what}")
}

/// Whether a line that begins with this word is a command. One that begins with a path or a comment is a prompt.
pub(crate) fn is_command(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)))
}

/// Where the word begins that ends here, and what it may become.
pub(crate) fn completions(before: &str) -> (usize, Vec<&'static str>) {
    let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let word = &before[start..];
    let candidates: Vec<_> = match before[..start].trim() {
        // a prompt may begin with anything but a slash
        "" if start == 0 && word.starts_with('/') => COMMANDS.iter().map(|command| command.name).collect(),
        name => {
            let command = COMMANDS.iter().find(|command| command.name == name);
            command.map_or_else(Vec::new, |command| command.words.to_vec())
        }
    };
    (start, candidates.into_iter().filter(|candidate| candidate.starts_with(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_their_words_are_completed() {
        assert_eq!(completions("/ta"), (0, vec!["/tasks"]));
        assert_eq!(completions("/re"), (0, vec!["/reminders", "/rewind"]));
        assert_eq!(completions("/tasks d"), (7, vec!["done", "delete"]));
        assert_eq!(completions("/tasks done "), (12, vec![]));
        assert_eq!(completions("/nonsense "), (10, vec![]));
        assert_eq!(completions("a prompt /ta"), (9, vec![]));
        assert_eq!(completions(""), (0, vec![]));
    }

    #[test]
    fn a_path_is_no_command() {
        assert!(COMMANDS.iter().all(|command| is_command(command.name)) && is_command("/nonsense") && is_command("/"));
        assert!(["/etc/hosts", "// note", "/*", "/tmp.", "tasks", ""].iter().all(|word| !is_command(word)));
    }

    #[test]
    fn help_names_every_command() {
        let help = help();
        assert!(COMMANDS.iter().all(|command| command.name == "/exit" || help.contains(command.name)));
    }
}
