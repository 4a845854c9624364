use std::sync::Arc;

use super::*;
use crate::item::{Item, ItemKind};

fn item(json: &str) -> Item {
    Item::from_json(json).unwrap()
}

fn user(text: &str) -> Item {
    Item::user_message(text)
}

fn reminder() -> Item {
    Item::task_reminder("note")
}

fn calls(ids: &[&str]) -> Item {
    let call = |id: &&str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"t","arguments":"{{}}"}}}}"#);
    let calls: Vec<_> = ids.iter().map(call).collect();
    item(&format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(",")))
}

fn preset(name: &str) -> Dialect {
    Dialect::preset(name).unwrap()
}

fn view(dialect: Dialect, items: &[Item]) -> Vec<String> {
    let mut projection = Projection::new(dialect, None);
    projection.extend(items);
    projection.messages().iter().map(|message| message.get().to_owned()).collect()
}

fn plain() -> Dialect {
    Dialect::default().with_alternate(false)
}

fn tool(id: &str, content: &str) -> String {
    Item::tool_message(id, content).json().to_owned()
}

#[test]
fn untouched_messages_are_shared() {
    let items = [
        Item::system_message("Be brief."),
        user("hi"),
        calls(&["a", "b"]),
        Item::tool_message("a", "1"),
        Item::tool_message("b", "2"),
        reminder(),
        Item::assistant_message("done"),
        Item::notification("n"),
    ];
    let mut projection = Projection::new(preset("openai"), None);
    projection.extend(&items);
    let messages = projection.messages();
    assert_eq!(messages.len(), items.len());
    for (message, item) in messages.iter().zip(&items) {
        assert!(Arc::ptr_eq(message, item.raw()), "{item:?}");
    }
    let mut merged = Projection::new(preset("qwen"), None);
    merged.extend(&items);
    let shared = merged.messages().iter().filter(|m| items.iter().any(|i| Arc::ptr_eq(m, i.raw()))).count();
    assert_eq!((merged.messages().len(), shared), (7, 5));
}

#[test]
fn late_messages_take_the_role_of_the_dialect() {
    let late = item(r#"{"role":"system","name":"x","content":[{"type":"text","text":"note"}]}"#);
    for role in ["system", "developer", "user"] {
        let dialect = plain().with_late_system(role.parse().unwrap());
        let expected = format!(r#"{{"role":"{role}","name":"x","content":[{{"type":"text","text":"note"}}]}}"#);
        assert_eq!(view(dialect, &[user("hi"), late.clone()])[1], expected);
    }
}

#[test]
fn merging_changes_the_content_alone() {
    let odd = item(r#"{"role":"user","content":"a\u00e9","x":{"y":1.0}}"#);
    assert_eq!(
        view(plain(), &[odd, reminder(), Item::notification("n")]),
        [r#"{"role":"user","content":"a\u00e9\n\nnote\n\nn","x":{"y":1.0}}"#]
    );
    let parts = item(r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#);
    assert_eq!(
        view(plain(), &[parts, reminder()]),
        [r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"note"}]}"#]
    );
    let view = view(plain(), &[calls(&["a"]), Item::tool_message("a", "[]"), reminder()]);
    assert_eq!(view[1..], [tool("a", "[]\n\nnote")]);
}

#[test]
fn what_cannot_be_merged_is_a_user_message() {
    let note = user("note");
    assert_eq!(view(plain(), &[reminder()]), [note.json()]);
    assert_eq!(view(plain(), &[Item::system_message("s"), reminder()])[1], note.json());
    let after_answer = [user("hi"), Item::assistant_message("x"), reminder(), Item::notification("n")];
    assert_eq!(view(plain(), &after_answer)[2], user("note\n\nn").json());
    let after_empty_answer = [user("hi"), Item::assistant_message(""), reminder()];
    assert_eq!(view(plain(), &after_empty_answer), [user("hi").json(), note.json()]);
}

#[test]
fn a_user_message_that_was_asked_for_is_one_even_where_roles_alternate() {
    let items = [user("hi"), calls(&["a"]), Item::tool_message("a", "1"), reminder()];
    let view = view(Dialect::default().with_late_system(LateSystem::User), &items);
    assert_eq!(view.len(), items.len());
    assert_eq!(view[2], tool("a", "1"));
    assert_eq!(view[3], user("note").json());
}

#[test]
fn system_messages_at_the_start_become_one_where_late_ones_are_refused() {
    let first = [Item::system_message("one"), Item::system_message("two"), user("hi")];
    let mut merged = Projection::new(plain(), Some("zero"));
    merged.extend(&first);
    assert_eq!(merged.messages()[0].get(), Item::system_message("zero\n\none\n\ntwo").json());
    assert_eq!(merged.messages().len(), 2);
    assert_eq!(view(preset("openai"), &first).len(), 3);
    assert!(Projection::new(plain(), Some("")).messages().is_empty());
}

#[test]
fn the_role_developer_goes_where_it_is_known() {
    let developer = item(r#"{"role":"developer","content":"s"}"#);
    assert_eq!(view(preset("openai"), std::slice::from_ref(&developer)), [developer.json()]);
    assert_eq!(view(plain(), std::slice::from_ref(&developer)), [Item::system_message("s").json()]);
    let late = plain().with_late_system(LateSystem::System);
    assert_eq!(view(late, &[user("hi"), developer])[1], Item::system_message("s").json());
}

#[test]
fn open_calls_are_answered_for_good_once_something_follows() {
    let mut projection = Projection::new(plain(), None);
    projection.extend(&[user("hi"), calls(&["a", "b", "c"]), Item::tool_message("b", "2")]);
    let open: Vec<_> = projection.open_calls().into_iter().map(|call| call.id).collect();
    assert_eq!(open, ["a", "c"]);
    let tail = |projection: &Projection| -> Vec<String> {
        projection.messages()[2..].iter().map(|message| message.get().to_owned()).collect()
    };
    assert_eq!(tail(&projection), [tool("a", INTERRUPTED), tool("b", "2"), tool("c", INTERRUPTED)]);
    projection.push(&Item::tool_message("a", "1"));
    assert_eq!(tail(&projection), [tool("a", "1"), tool("b", "2"), tool("c", INTERRUPTED)]);
    projection.push(&reminder());
    let closed = [tool("a", "1"), tool("b", "2"), tool("c", &format!("{INTERRUPTED}\n\nnote"))];
    assert_eq!(tail(&projection), closed);
    assert!(projection.open_calls().is_empty());
    projection.push(&Item::tool_message("c", "too late"));
    assert_eq!(tail(&projection), closed);
}

#[test]
fn results_without_a_call_and_second_results_are_left_out() {
    let items = [
        Item::tool_message("gone", "0"),
        user("hi"),
        calls(&["a"]),
        Item::tool_message("gone", "0"),
        Item::tool_message("a", "1"),
        Item::tool_message("a", "2"),
        user("more"),
        Item::tool_message("a", "3"),
    ];
    let expected = [items[1].json(), items[2].json(), items[4].json(), items[6].json()];
    assert_eq!(view(plain(), &items), expected);
}

#[test]
fn calls_are_made_whole() {
    let bare =
        item(r#"{"role":"assistant","x":1,"tool_calls":[{"index":0,"function":{"name":"t","arguments":{"a":1}}}]}"#);
    let mut projection = Projection::new(plain(), None);
    projection.push(&bare);
    let call = projection.open_calls().remove(0);
    assert_eq!((call.name.as_str(), call.arguments.as_str(), call.id.len()), ("t", r#"{"a":1}"#, 9));
    let expected = format!(
        r#"{{"role":"assistant","x":1,"tool_calls":[{{"index":0,"function":{{"name":"t","arguments":"{{\"a\":1}}"}},"id":"{}","type":"function"}}],"content":null}}"#,
        call.id
    );
    assert_eq!(projection.messages()[0].get(), expected);
    projection.push(&Item::tool_message(&call.id, "1"));
    assert_eq!(projection.messages().len(), 2);
}

#[test]
fn arguments_are_an_object_in_a_string() {
    for (arguments, expected) in [
        (r#""{\"a\":\"\\u00e9\"}""#, r#""{\"a\":\"\\u00e9\"}""#),
        (r#""""#, r#""{}""#),
        ("null", r#""{}""#),
        (r#""null""#, r#""{}""#),
        (r#""{\"a\":""#, r#""{}""#),
        (r#""[1]""#, r#""{}""#),
        ("7", r#""{}""#),
        (r#""\"{\\\"a\\\":1}\"""#, r#""{\"a\":1}""#),
        (r#""\ud800""#, r#""{}""#),
    ] {
        let call = |arguments: &str| {
            item(&format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"t","arguments":{arguments}}}}}]}}"#
            ))
        };
        assert_eq!(view(plain(), &[call(arguments)])[0], call(expected).json(), "{arguments}");
    }
}

#[test]
fn a_legacy_function_call_becomes_a_tool_call() {
    let items = [
        item(r#"{"role":"assistant","content":null,"function_call":{"name":"t","arguments":"{}"}}"#),
        item(r#"{"role":"function","name":"t","content":"1"}"#),
        user("next"),
    ];
    let view = view(plain(), &items);
    let id = serde_json::from_str::<serde_json::Value>(&view[1]).unwrap()["tool_call_id"].clone();
    assert_eq!(
        view[0],
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"function":{{"name":"t","arguments":"{{}}"}},"id":{id},"type":"function"}}]}}"#
        )
    );
    assert_eq!(view[1], format!(r#"{{"role":"tool","name":"t","content":"1","tool_call_id":{id}}}"#));
}

#[test]
fn empty_lists_of_calls_and_nameless_entries_are_left_out() {
    let text = r#"{"role":"assistant","content":"x"}"#;
    for extra in [r#""tool_calls":[]"#, r#""tool_calls":null,"function_call":null"#, r#""tool_calls":[{"id":"a"}]"#] {
        let message = item(&format!(r#"{{"role":"assistant","content":"x",{extra}}}"#));
        assert_eq!(view(plain(), &[message]), [text]);
    }
}

#[test]
fn an_answer_that_says_nothing_is_left_out() {
    for empty in ["\"\"", "null", "\" \\n\"", "[]"] {
        let message = item(&format!(r#"{{"role":"assistant","content":{empty},"reasoning_content":"hm"}}"#));
        assert!(view(plain(), &[message]).is_empty(), "{empty}");
    }
    let refusal = item(r#"{"role":"assistant","content":null,"refusal":"no"}"#);
    assert_eq!(view(plain(), std::slice::from_ref(&refusal)), [refusal.json()]);
    assert!(view(preset("groq"), &[refusal]).is_empty());
}

#[test]
fn content_beside_calls_follows_the_setting() {
    use ToolOnlyContent::{Absent, AsReceived, Empty, Null};
    let message = |content: &str| {
        item(&format!(
            r#"{{"role":"assistant"{content},"tool_calls":[{{"id":"a","type":"function","function":{{"name":"t","arguments":"{{}}"}}}}]}}"#
        ))
    };
    let (null, empty, absent) = (message(r#","content":null"#), message(r#","content":"""#), message(""));
    let said = message(r#","content":"x""#);
    for setting in [AsReceived, Null, Empty, Absent] {
        let of = |message: &Item| {
            let view = view(plain().with_tool_only_content(setting), std::slice::from_ref(message));
            let sent: serde_json::Map<_, _> = serde_json::from_str(&view[0]).unwrap();
            sent.get("content").map(ToString::to_string)
        };
        let (null, empty, absent) = (of(&null), of(&empty), of(&absent));
        let some = |text: &str| Some(text.to_owned());
        match setting {
            AsReceived => assert_eq!((null, empty, absent), (some("null"), some("\"\""), some("null"))),
            Null => assert_eq!((null, empty, absent), (some("null"), some("null"), some("null"))),
            Empty => assert_eq!((null, empty, absent), (some("\"\""), some("\"\""), some("\"\""))),
            Absent => assert_eq!((null, empty, absent), (None, None, None)),
        }
        assert_eq!(of(&said), some("\"x\""));
    }
}

#[test]
fn refused_fields_are_left_out_of_messages_and_calls() {
    let items = [
        item(r#"{"role":"user","content":"hi","name":"ada"}"#),
        item(
            r#"{"role":"assistant","content":"x","reasoning_content":"r","kept":1,"tool_calls":[{"id":"abcdefgh1","type":"function","extra_content":{},"function":{"name":"t","arguments":"{}"}}]}"#,
        ),
        item(r#"{"role":"tool","tool_call_id":"abcdefgh1","name":"t","content":"1"}"#),
    ];
    assert_eq!(
        view(preset("mistral"), &items),
        [
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"assistant","content":"x","kept":1,"tool_calls":[{"id":"abcdefgh1","type":"function","function":{"name":"t","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"abcdefgh1","content":"1"}"#,
        ]
    );
    let essential = plain().with_dropped_fields(["role", "content", "tool_calls", "id", "type", "function"]);
    assert_eq!(view(essential, &items)[1], items[1].json());
}

#[test]
fn broken_turns_alternate_where_they_must() {
    let prompts = [user("a"), item(r#"{"role":"user","content":[{"type":"text","text":"b"}]}"#)];
    assert_eq!(
        view(preset("gemma"), &prompts),
        [prompts[0].json(), Item::assistant_message("(interrupted)").json(), prompts[1].json()]
    );
    assert_eq!(view(preset("openai"), &prompts).len(), 2);
    let cancelled = [user("a"), calls(&["aaaaaaaa1"]), user("b"), reminder()];
    assert_eq!(
        view(preset("mistral"), &cancelled)[2..],
        [
            tool("aaaaaaaa1", INTERRUPTED),
            Item::assistant_message("(interrupted)").json().to_owned(),
            user("b\n\nnote").json().to_owned(),
        ]
    );
}

#[test]
fn a_history_of_one_server_is_accepted_by_another() {
    let mut mistral = Projection::new(preset("mistral"), None);
    let asked = calls(&["call_1", "call_2"]);
    mistral.push(&asked);
    let results: Vec<_> =
        mistral.open_calls().iter().map(|call| Item::tool_message(&call.id, format!("of {}", call.id))).collect();
    assert!(results.iter().all(|result| result.tool_call_id().unwrap().len() == 9));
    let contents: Vec<_> = results.iter().map(|result| result.text().unwrap()).collect();
    let history = [asked.clone(), results[1].clone(), results[0].clone()];
    let expected = [asked.json().to_owned(), tool("call_1", &contents[0]), tool("call_2", &contents[1])];
    assert_eq!(view(preset("openai"), &history), expected);
    assert_eq!(view(preset("mistral"), &history)[1..], [results[0].json(), results[1].json()]);
}

#[test]
fn the_kind_not_the_role_says_what_is_late() {
    let notification = user("n").with_kind(ItemKind::Notification);
    assert_eq!(view(plain(), &[user("hi"), notification]), [user("hi\n\nn").json()]);
}

#[test]
fn without_system_messages_the_instructions_begin_the_first_prompt() {
    let dialect = Dialect::default().with_system_role(false);
    let mut projection = Projection::new(dialect.clone(), Some("Be brief."));
    projection.extend(&[Item::system_message("Be kind."), user("hi"), reminder()]);
    let text = |projection: &Projection| -> Vec<String> {
        projection.messages().iter().map(|message| message.get().to_owned()).collect()
    };
    let first = text(&projection);
    assert_eq!(first.len(), 1);
    assert!(first[0].starts_with(r#"{"role":"user","content":"Be brief.\n\nBe kind.\n\nhi\n\n"#), "{first:?}");
    projection.extend(&[item(r#"{"role":"assistant","content":"a"}"#), user("more")]);
    assert_eq!(text(&projection)[..1], first);
    assert_eq!(text(&projection).len(), 3);

    let parts = item(r#"{"role":"user","content":[{"type":"text","text":"hi"}],"name":"x"}"#);
    let joined =
        r#"{"role":"user","content":[{"type":"text","text":"Be brief."},{"type":"text","text":"hi"}],"name":"x"}"#;
    let mut projection = Projection::new(dialect, Some("Be brief."));
    projection.push(&parts);
    assert_eq!(text(&projection), [joined]);
}
