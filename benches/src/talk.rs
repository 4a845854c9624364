//! The same conversation for each of those that are compared: prompts and answers of 400 bytes in turn.

use async_openai::types::chat::ChatCompletionRequestMessage;
use insomnia_tasks::Item;

/// How many bytes of text a message has.
pub const TEXT: usize = 400;

/// The text of a message.
pub fn text(number: usize) -> String {
    let mut text = format!("{number}: \"as planned\"\n");
    while text.len() < TEXT {
        text.push_str("the parser reads one line after the other, ");
    }
    text.truncate(TEXT);
    text
}

/// Whether a message is a prompt; the others are answers.
pub fn is_prompt(number: usize) -> bool {
    number % 2 == 0
}

/// As this crate keeps them.
pub fn items(count: usize) -> Vec<Item> {
    (0..count)
        .map(|number| match is_prompt(number) {
            true => Item::user_message(text(number)),
            false => Item::assistant_message(text(number)),
        })
        .collect()
}

/// As async-openai types them.
pub fn typed(count: usize) -> Vec<ChatCompletionRequestMessage> {
    let typed = |item: &Item| serde_json::from_str(item.json());
    items(count).iter().map(typed).collect::<Result<_, _>>().expect("chat messages")
}

/// As rig keeps them.
pub fn rig(count: usize) -> Vec<rig_core::completion::Message> {
    (0..count)
        .map(|number| match is_prompt(number) {
            true => rig_core::completion::Message::user(text(number)),
            false => rig_core::completion::Message::assistant(text(number)),
        })
        .collect()
}
