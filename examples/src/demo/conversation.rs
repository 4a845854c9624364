use serde_json::{Value, json};

const OPENING: &str = "<system-reminder>";
const CLOSING: &str = "</system-reminder>";

/// The messages of a request, as far as the script understands them.
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// Where the last prompt of the user stands, if there is one.
    prompt: Option<usize>,
}

struct Message {
    role: String,
    /// Without the reminder.
    text: String,
    reminder: Option<String>,
    calls: Vec<Call>,
    call_id: Value,
}

struct Call {
    id: Value,
    name: String,
    arguments: Value,
}

/// A tool call and its result; empty where there is none yet.
pub(super) struct Done<'a> {
    pub(super) at: usize,
    pub(super) arguments: &'a Value,
    pub(super) result: &'a str,
}

impl Conversation {
    pub(super) fn new(messages: &[Value]) -> Self {
        let messages: Vec<_> = messages.iter().map(Message::new).collect();
        let prompt = messages.iter().rposition(|message| message.role == "user" && !message.text.is_empty());
        Self { messages, prompt }
    }

    pub(super) fn prompt(&self) -> Option<usize> {
        self.prompt
    }

    /// How many answers there are between two positions.
    pub(super) fn answers(&self, from: usize, to: usize) -> usize {
        let between = self.messages.iter().take(to).skip(from);
        between.filter(|message| message.role == "assistant").count()
    }

    pub(super) fn end(&self) -> usize {
        self.messages.len()
    }

    /// Every call of this tool from a position on.
    pub(super) fn calls<'a>(&'a self, name: &str, from: usize) -> Vec<Done<'a>> {
        let mut done = Vec::new();
        for (at, message) in self.messages.iter().enumerate().skip(from) {
            let after = self.messages.iter().skip(at + 1).take_while(|message| message.role != "assistant");
            for call in message.calls.iter().filter(|call| call.name == name) {
                let result = after.clone().find(|message| message.role == "tool" && message.call_id == call.id);
                done.push(Done { at, arguments: &call.arguments, result: result.map_or("", |result| &result.text) });
            }
        }
        done
    }

    /// The tasks that were created and neither completed nor deleted, as far as the messages tell.
    pub(super) fn open_tasks(&self) -> Vec<u64> {
        let mut open = self.created_tasks(0);
        for update in self.calls("TaskUpdate", 0) {
            if matches!(update.arguments["status"].as_str(), Some("completed" | "deleted")) {
                open.retain(|id| task_id(update.arguments) != Some(*id));
            }
        }
        open
    }

    pub(super) fn created_tasks(&self, from: usize) -> Vec<u64> {
        let result = |done: Done<'_>| task_id(&serde_json::from_str(done.result).ok()?);
        self.calls("TaskCreate", from).into_iter().filter_map(result).collect()
    }

    /// The id that the next task gets, where the messages tell: ids are given in the order of the calls.
    pub(super) fn next_task(&self, prompt: usize) -> Option<u64> {
        // behind a summary there may have been others
        let first = (prompt <= 1).then_some(0);
        self.created_tasks(0).into_iter().max().or(first).map(|last| last + 1)
    }

    /// The tasks that a reminder lists which came after the last use of TaskCreate and TaskUpdate; none without one.
    pub(super) fn reminded_of(&self) -> Option<Vec<u64>> {
        let managed = ["TaskCreate", "TaskUpdate"].into_iter().flat_map(|name| self.calls(name, 0));
        let since = managed.map(|call| call.at + 1).max().unwrap_or(0);
        let mut reminders = self.messages.iter().skip(since).filter_map(|message| message.reminder.as_deref());
        let reminder = reminders.rfind(|text| text.lines().any(lists_a_task))?;
        let open = self.open_tasks();
        let listed: Vec<_> = reminder.lines().filter(|line| lists_a_task(line)).filter_map(first_number).collect();
        let known: Vec<_> = listed.iter().copied().filter(|id| open.contains(id)).collect();
        Some(match (open.is_empty(), known.is_empty()) {
            // The answers that created the tasks are no longer in the messages.
            (true, _) => listed,
            (false, true) => open,
            (false, false) => known,
        })
    }
}

impl Message {
    fn new(message: &Value) -> Self {
        let (text, reminder) = split_reminder(&text(&message["content"]));
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            role: message["role"].as_str().unwrap_or_default().to_owned(),
            text,
            reminder,
            calls: calls.iter().map(Call::new).collect(),
            call_id: message["tool_call_id"].clone(),
        }
    }
}

impl Call {
    fn new(call: &Value) -> Self {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
        Self {
            id: call["id"].clone(),
            name: function["name"].as_str().unwrap_or_default().to_owned(),
            arguments: arguments.unwrap_or_else(|| json!({})),
        }
    }
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The text, and the reminder that ends it. One in the middle of a line is not ours: a file may speak of reminders.
fn split_reminder(text: &str) -> (String, Option<String>) {
    let text = text.trim();
    let start = text.rfind(OPENING).filter(|start| text[..*start].ends_with('\n') || *start == 0);
    match start {
        Some(start) if text.ends_with(CLOSING) => (text[..start].trim().to_owned(), Some(text[start..].to_owned())),
        _ => (text.to_owned(), None),
    }
}

fn lists_a_task(line: &str) -> bool {
    line.contains("pending") || line.contains("inprogress")
}

fn first_number(line: &str) -> Option<u64> {
    line.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}

fn task_id(task: &Value) -> Option<u64> {
    let id = &task["taskid"];
    id.as_u64().or_else(|| id.as_str().and_then(first_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_is_split_off_wherever_it_was_merged() {
        let block = "<system-reminder>\n- 3 [inprogress] x\n</system-reminder>";
        for (text, rest) in [
            (block.to_owned(), ""),
            (format!("{{\"taskid\":1}}\n\n{block}\n"), "{\"taskid\":1}"),
            (format!("fix it\n{block}"), "fix it"),
        ] {
            assert_eq!(split_reminder(&text), (rest.to_owned(), Some(block.to_owned())));
        }
        let parts = json!([{"type": "text", "text": "fix it"}, {"type": "text", "text": block}]);
        assert_eq!(split_reminder(&super::text(&parts)).0, "fix it");
    }

    #[test]
    fn a_file_that_speaks_of_reminders_is_none() {
        let file = "a.md, lines 1-2 of 2:\n    1  <system-reminder>- 1 [pending] x\n    2  </system-reminder>";
        assert_eq!(split_reminder(file), (file.to_owned(), None));
    }

    #[test]
    fn reads_ids_however_a_line_is_written() {
        for line in ["- 3 [inprogress] 7 dwarfs", "#3: pending", "* taskid=3 status=pending subject=\"8\""] {
            assert!(lists_a_task(line));
            assert_eq!(first_number(line), Some(3));
        }
    }
}
