//! What holds for every history, in every dialect, however it was recorded.

use std::{collections::HashSet, sync::Arc};

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, value::RawValue};

use super::*;
use crate::item::Item;

/// One turn: a prompt, rounds of calls, and an answer unless the turn breaks off.
#[derive(Clone, Debug)]
struct Turn {
    prompts: usize,
    late: usize,
    rounds: Vec<Calls>,
    ending: Ending,
}

#[derive(Clone, Debug)]
struct Calls {
    ids: Vec<usize>,
    answered: Vec<bool>,
    own_ids: bool,
    late: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Answer,
    EmptyAnswer,
    Crash,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let calls = (vec(0..8usize, 1..4), vec(proptest::bool::weighted(0.8), 3), any::<bool>(), 0..3usize)
        .prop_map(|(ids, answered, own_ids, late)| Calls { ids, answered, own_ids, late });
    let ending = prop_oneof![4 => Just(Ending::Answer), 1 => Just(Ending::EmptyAnswer), 2 => Just(Ending::Crash)];
    let turn = (1..3usize, 0..2usize, vec(calls, 0..4), ending).prop_map(|(prompts, late, rounds, ending)| Turn {
        prompts,
        late,
        rounds,
        ending,
    });
    vec(turn, 1..6)
}

/// A history as a worker records it with some dialect, and where requests that were answered left.
struct Recorded {
    items: Vec<Item>,
    requests: Vec<usize>,
}

fn record(turns: &[Turn], dialect: &Dialect) -> Recorded {
    let mut recorded = Recorded { items: Vec::new(), requests: Vec::new() };
    let mut worker = Projection::new(dialect.clone(), None);
    let mut commit = |recorded: &mut Recorded, item: Item| {
        worker.push(&item);
        recorded.items.push(item);
        worker.open_calls()
    };
    for turn in turns {
        for k in 0..turn.prompts {
            commit(&mut recorded, Item::user_message(format!("prompt {k}")));
        }
        late(turn.late, |item| {
            commit(&mut recorded, item);
        });
        for calls in &turn.rounds {
            recorded.requests.push(recorded.items.len());
            let open = commit(&mut recorded, answer(&calls.ids));
            for ((call, id), answered) in open.iter().zip(&calls.ids).zip(&calls.answered) {
                let id = if calls.own_ids { &call.id } else { given(*id) };
                if *answered {
                    commit(&mut recorded, Item::tool_message(id, "[]"));
                }
            }
            late(calls.late, |item| {
                commit(&mut recorded, item);
            });
        }
        if turn.ending != Ending::Crash {
            recorded.requests.push(recorded.items.len());
            let text = if turn.ending == Ending::Answer { "done" } else { "" };
            commit(&mut recorded, Item::assistant_message(text));
        }
    }
    recorded
}

fn late(count: usize, mut commit: impl FnMut(Item)) {
    for k in 0..count {
        commit(if k == 0 { Item::task_reminder("2 open") } else { Item::notification("news") });
    }
}

/// Ids as servers give them: none, the same every turn, too long, in Mistral's form, plain.
fn given(choice: usize) -> &'static str {
    const LONG: &str = "call_0123456789012345678901234567890123456789";
    ["", "list:0", "list:1", LONG, "abcdefgh1", "call_a", "call_b", "7"][choice]
}

fn answer(ids: &[usize]) -> Item {
    let call = |id: &usize| serde_json::json!({"id": given(*id), "function": {"name": "t", "arguments": ""}});
    let calls: Vec<_> = ids.iter().map(call).collect();
    Item::from_json(&serde_json::json!({"role": "assistant", "tool_calls": calls}).to_string()).unwrap()
}

fn dialects() -> Vec<Dialect> {
    let presets = ["openai", "mistral", "qwen", "portable", "groq"].map(|name| Dialect::preset(name).unwrap());
    let placed = [LateSystem::Developer, LateSystem::User].map(|late| presets[0].clone().with_late_system(late));
    presets.into_iter().chain(placed).collect()
}

fn view(dialect: &Dialect, items: &[Item]) -> Vec<Arc<RawValue>> {
    let mut projection = Projection::new(dialect.clone(), Some("Be brief."));
    projection.extend(items);
    projection.messages().to_vec()
}

fn texts(messages: &[Arc<RawValue>]) -> Vec<&str> {
    messages.iter().map(|message| message.get()).collect()
}

/// Every call has exactly one result right after its message, under an id of its own.
fn check_rounds(dialect: &Dialect, messages: &[Arc<RawValue>]) -> Result<(), TestCaseError> {
    let messages: Vec<Value> = messages.iter().map(|message| serde_json::from_str(message.get()).unwrap()).collect();
    let mut seen = HashSet::new();
    let mut open: HashSet<String> = HashSet::new();
    for message in &messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            prop_assert!(open.remove(id), "result without a call: {id}");
            continue;
        }
        prop_assert!(open.is_empty(), "unanswered: {open:?}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap();
            prop_assert!((1..=40).contains(&id.chars().count()));
            if dialect.call_ids == CallIds::NineAlphanumeric {
                prop_assert!(id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()), "{id}");
            }
            prop_assert!(seen.insert(id.to_owned()), "used twice: {id}");
            open.insert(id.to_owned());
        }
    }
    prop_assert!(open.is_empty(), "unanswered: {open:?}");
    Ok(())
}

/// No result that a worker committed is lost, whichever dialect it had then.
fn count_real_results(messages: &[Arc<RawValue>]) -> usize {
    messages.iter().filter(|m| m.get().contains(r#""role":"tool""#) && !m.get().contains(INTERRUPTED)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn calls_and_results_pair_in_every_dialect(turns in turns()) {
        for recorder in [Dialect::preset("openai").unwrap(), Dialect::preset("mistral").unwrap()] {
            let recorded = record(&turns, &recorder);
            let results = recorded.items.iter().filter(|item| item.kind() == crate::ItemKind::Tool).count();
            for dialect in dialects() {
                let messages = view(&dialect, &recorded.items);
                check_rounds(&dialect, &messages)?;
                prop_assert_eq!(count_real_results(&messages), results, "{:?}", dialect);
            }
        }
    }

    #[test]
    fn each_request_extends_the_one_before(turns in turns()) {
        for dialect in dialects() {
            let recorded = record(&turns, &dialect);
            let mut live = Projection::new(dialect.clone(), Some("Be brief."));
            let mut before = Vec::new();
            for (index, item) in recorded.items.iter().enumerate() {
                if recorded.requests.contains(&index) {
                    let now = live.messages();
                    prop_assert!(texts(&now).starts_with(&texts(&before)), "{dialect:?}\n{before:#?}\n{now:#?}");
                    let resumed = view(&dialect, &recorded.items[..index]);
                    prop_assert_eq!(texts(&now), texts(&resumed));
                    before = now.into_owned();
                }
                live.push(item);
            }
        }
    }

    #[test]
    fn alternating_dialects_alternate(turns in turns()) {
        for dialect in dialects().into_iter().filter(|dialect| dialect.alternate) {
            let messages = view(&dialect, &record(&turns, &dialect).items);
            let mut last = String::new();
            for message in &messages[1..] {
                let message: Value = serde_json::from_str(message.get()).unwrap();
                let role = message["role"].as_str().unwrap();
                prop_assert_ne!(role, "system");
                prop_assert!(role != "user" || !["user", "tool"].contains(&last.as_str()), "{messages:#?}");
                last = role.to_owned();
            }
        }
    }
}
