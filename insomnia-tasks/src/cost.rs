use std::{collections::HashSet, fmt};

use crate::{
    Item, ItemKind, Toolbox,
    reminder::estimate_tokens,
    task::tools::{TaskToolbox, is_task_tool},
};

/// What tasks and reminders have cost in a session so far. Tokens are estimates, at four bytes a token.
///
/// Each request carries the definitions of the task tools, and what the messages before it hold of calls, results and
/// reminders. Most of it stands at the same place as in the request before, so servers that cache prompts count it for
/// less. It is worked out from the history alone: a resumed session costs what it did, and a compaction, which sends
/// less from then on, is not looked at.
///
/// ```
/// use insomnia_tasks::{Cost, Item};
///
/// let call = r#"{"id":"1","type":"function","function":{"name":"TaskList","arguments":"{}"}}"#;
/// let items = [
///     Item::user_message("hi"),
///     Item::from_json(&format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#))?,
///     Item::tool_message("1", "[]"),
///     Item::assistant_message("Hello."),
/// ];
/// let cost = Cost::of(&items);
/// assert_eq!((cost.requests, cost.requests_for_tasks, cost.reminders), (2, 1, 0));
/// # Ok::<(), insomnia_tasks::ItemError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Answered requests in all.
    pub requests: u64,
    /// Of these, the ones whose answer called task tools and nothing else: without tasks they would not have been made.
    pub requests_for_tasks: u64,
    /// Reminders.
    pub reminders: u64,
    /// Input tokens of the four definitions, in every request.
    pub definition_tokens: u64,
    /// Input tokens of task calls and their results, in every request behind them.
    pub call_tokens: u64,
    /// Input tokens of reminders, in every request from the one that they were made for.
    pub reminder_tokens: u64,
    /// Output tokens of the task calls.
    pub output_tokens: u64,
}

impl Cost {
    /// The cost of this history, each request of which offered the task tools.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let definitions: usize = TaskToolbox::definitions().iter().map(|tool| estimate_tokens(tool.raw().get())).sum();
        let (mut cost, mut calls, mut reminders) = (Self::default(), 0, 0);
        let mut open = HashSet::new();
        for item in items {
            match item.kind() {
                ItemKind::Assistant => {
                    cost.requests += 1;
                    cost.definition_tokens += definitions as u64;
                    cost.call_tokens += calls;
                    cost.reminder_tokens += reminders;
                    let called = item.tool_calls();
                    let of_tasks = called.iter().filter(|call| is_task_tool(&call.name));
                    open = of_tasks.clone().map(|call| call.id.clone()).collect();
                    let bytes: u64 = of_tasks.map(|call| tokens(&call.name) + tokens(&call.arguments)).sum();
                    cost.output_tokens += bytes;
                    calls += bytes;
                    cost.requests_for_tasks += u64::from(!called.is_empty() && open.len() == called.len());
                }
                ItemKind::Tool if item.tool_call_id().is_some_and(|id| open.contains(&id)) => {
                    calls += tokens(&item.text().unwrap_or_default());
                }
                ItemKind::TaskReminder => {
                    cost.reminders += 1;
                    reminders += tokens(&item.text().unwrap_or_default());
                }
                _ => {}
            }
        }
        cost
    }

    /// Input tokens in all.
    pub fn input_tokens(&self) -> u64 {
        self.definition_tokens + self.call_tokens + self.reminder_tokens
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(
            f,
            "tasks and reminders: about {} tokens in {} request{} (definitions {}, calls and results {}, {} reminder{} {}), {} out; \
             {} request{} for tasks alone",
            self.input_tokens(),
            self.requests,
            plural(self.requests),
            self.definition_tokens,
            self.call_tokens,
            self.reminders,
            plural(self.reminders),
            self.reminder_tokens,
            self.output_tokens,
            self.requests_for_tasks,
            plural(self.requests_for_tasks),
        )
    }
}

fn tokens(text: &str) -> u64 {
    estimate_tokens(text) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(calls: &[(&str, &str, &str)]) -> Item {
        let calls: Vec<_> = calls
            .iter()
            .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
            .collect();
        Item::from_message(&json!({"role": "assistant", "content": null, "tool_calls": calls})).unwrap()
    }

    #[test]
    fn counts_what_each_request_carries() {
        let definitions = Cost::of(&[Item::assistant_message("hi")]).definition_tokens;
        let items = [
            Item::user_message("go"),
            answer(&[("1", "TaskList", "{}"), ("2", "ReadFile", "{}")]), // 2 + 1
            Item::tool_message("1", "x".repeat(40)),                     // 10
            Item::tool_message("2", "y".repeat(4_000)),
            Item::task_reminder("z".repeat(80)),    // 20
            answer(&[("1", "TaskGet", "{}")]),      // 2 + 1
            Item::tool_message("1", "x".repeat(4)), // 1
            Item::assistant_message("done"),
        ];
        let cost = Cost::of(&items);
        let expected = Cost {
            requests: 3,
            requests_for_tasks: 1,
            reminders: 1,
            definition_tokens: 3 * definitions,
            call_tokens: 13 + 17,
            reminder_tokens: 2 * 20,
            output_tokens: 6,
        };
        assert_eq!(cost, expected);
        assert_eq!(cost.input_tokens(), 3 * definitions + 70);
        assert!(cost.to_string().contains("1 reminder 40), 6 out; 1 request for tasks alone"), "{cost}");
        assert_eq!(Cost::of(&[]), Cost::default());
    }
}
