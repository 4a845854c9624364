use std::time::Duration;

use serde_json::json;

use super::{conversation::Conversation, findings::Findings};
use crate::scripted::{RecordedRequest, Reply, ScriptedModel};

/// Answers in one turn after which the script stops waiting for a reminder.
const PATIENCE: usize = 20;

const TASKS: [(&str, &str); 3] = [
    ("List the files", "See what this folder holds."),
    ("Read the manifest", "Find out what kind of project this is."),
    ("Look into the sources", "Read a few files to say how large they are."),
];

/// A script in place of a model: it creates three tasks and starts the first, forgets them over its work, and completes them
/// when a reminder lists them. With a reminder after 8 idle requests a prompt takes 11 requests, without one 21.
///
/// It works with `ListFiles {path?}` and `ReadFile {path}` where the request offers them, else it looks at its task list.
#[derive(Clone, Copy, Debug)]
pub struct ForgetfulModel {
    pace: Duration,
}

impl ForgetfulModel {
    /// A model that waits this long between two chunks of an answer, so that a demo looks alive. The default is 8 ms;
    /// tests take zero.
    pub fn with_pace(pace: Duration) -> Self {
        Self { pace }
    }
}

impl Default for ForgetfulModel {
    fn default() -> Self {
        Self::with_pace(Duration::from_millis(8))
    }
}

impl ScriptedModel for ForgetfulModel {
    fn answer(&self, request: &RecordedRequest, _number: usize) -> Reply {
        decide(&Conversation::new(&request.messages()), &request.tool_names()).tells_usage().pace(self.pace)
    }
}

fn decide(conversation: &Conversation, offered: &[String]) -> Reply {
    let Some(prompt) = conversation.prompt() else {
        return Reply::text("I am a script and wait for a prompt.");
    };
    if !["TaskCreate", "TaskUpdate", "TaskList"].iter().all(|name| offered.iter().any(|tool| tool == name)) {
        return Reply::text("I am a script that shows how task reminders work, but this request offers no task tools.");
    }
    if let Some(tasks) = conversation.reminded_of() {
        let complete = |id| ("TaskUpdate", json!({"taskid": id, "status": "completed"}));
        return Reply::text_and_calls("Right, I have not recorded my progress.", tasks.into_iter().map(complete));
    }
    let Some(created) = conversation.calls("TaskCreate", prompt).first().map(|call| call.at) else {
        let create = |(subject, description)| ("TaskCreate", json!({"subject": subject, "description": description}));
        let start =
            conversation.next_task(prompt).map(|id| ("TaskUpdate", json!({"taskid": id, "status": "inprogress"})));
        return Reply::text_and_calls("I will look around in this folder.", TASKS.map(create).into_iter().chain(start));
    };
    let mut updates = conversation.calls("TaskUpdate", created);
    updates.retain(|update| update.at > created);
    if let Some(first) = updates.first() {
        let idle = conversation.answers(created + 1, first.at);
        let completed: Vec<_> = updates.iter().filter_map(|update| update.arguments["taskid"].as_u64()).collect();
        return Reply::text(format!(
            "{} completed. {}\n\nThis was the demo, a script and no model. It created its tasks and then did not touch \
             them for {idle} requests; that it recorded them in the end is due to the reminder.",
            tasks_are(&completed),
            Findings::new(conversation, prompt).summary(),
        ));
    }
    if conversation.answers(prompt, conversation.end()) >= PATIENCE {
        return Reply::text(format!(
            "{} still open, because nobody reminded me. {}\n\nThis was the demo, a script and no model. It forgets its \
             tasks unless a reminder comes.",
            tasks_are(&conversation.open_tasks()),
            Findings::new(conversation, prompt).summary(),
        ));
    }
    Reply::calls([Findings::new(conversation, prompt).next_step(offered)])
}

/// `Task 1 is`, `Tasks 1, 2 and 3 are`.
fn tasks_are(ids: &[u64]) -> String {
    let ids: Vec<_> = ids.iter().map(u64::to_string).collect();
    match ids.split_last() {
        None => "No task is".to_owned(),
        Some((only, [])) => format!("Task {only} is"),
        Some((last, others)) => format!("Tasks {} and {last} are", others.join(", ")),
    }
}
