//! `/last`: a tool call with all that was given to it and all that came of it.

use insomnia_tasks::{Item, ToolCall};
use serde_json::Value;

use crate::terminal::{DIM, note, one_line, visible};

/// Shows the last call, or with a number the one that many calls ago.
pub(crate) fn show(which: &str, items: &[Item]) {
    let calls = calls(items);
    let back = match which {
        "" => 1,
        number => match number.parse() {
            Ok(back @ 1..) => back,
            _ => return note!("/last takes how many calls ago, such as /last 2"),
        },
    };
    let Some((call, result)) = calls.len().checked_sub(back).and_then(|at| calls.get(at)) else {
        return match calls.len() {
            0 => note!("no tool was called yet"),
            1 => note!("there is only 1 call to look at"),
            all => note!("there are only {all} calls to look at"),
        };
    };
    note!("• {} {DIM}call {} of {}{DIM:#}", one_line(&call.name, 64), calls.len() + 1 - back, calls.len());
    note!("{DIM}arguments{DIM:#}\n{}", indented(&pretty(&call.arguments)));
    match result {
        Some(result) => note!("{DIM}result{DIM:#}\n{}", indented(&pretty(result))),
        None => note!("{DIM}no result yet{DIM:#}"),
    }
}

/// Every call with its result. Servers may give an id again in a later answer, so a result is looked for behind its call.
fn calls(items: &[Item]) -> Vec<(ToolCall, Option<String>)> {
    let mut calls = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for call in item.tool_calls() {
            let results = items[at + 1..].iter().take_while(|item| item.tool_calls().is_empty());
            let mut own = results.filter(|item| item.tool_call_id().as_deref() == Some(call.id.as_str()));
            let result = own.next().and_then(Item::text);
            calls.push((call, result));
        }
    }
    calls
}

/// JSON over several lines, anything else as it is.
fn pretty(text: &str) -> String {
    let parsed = serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array());
    parsed.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}

fn indented(text: &str) -> String {
    visible(text).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_belongs_to_the_call_before_it() {
        let asks = |id: &str| {
            let call = format!(r#"{{"id":"{id}","type":"function","function":{{"name":"F","arguments":"{{}}"}}}}"#);
            Item::from_json(&format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#)).unwrap()
        };
        let items = [asks("1"), Item::tool_message("1", "a"), asks("1"), Item::tool_message("1", "b"), asks("2")];
        let results: Vec<_> = calls(&items).into_iter().map(|(_, result)| result).collect();
        assert_eq!(results, [Some("a".to_owned()), Some("b".to_owned()), None]);
    }

    #[test]
    fn nothing_in_it_steers_the_terminal() {
        assert_eq!(indented(&pretty("{\"a\":\"\\u001b[2J\"}")), "  {\n    \"a\": \"\\u001b[2J\"\n  }");
        assert_eq!(indented(&pretty("x\u{1b}[2J\r\ny")), "  x[2J\n  y");
    }
}
