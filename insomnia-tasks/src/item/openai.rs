//! Conversions from and into async-openai's typed messages, for hosts that use them.

use async_openai::types::chat::ChatCompletionRequestMessage;

use super::{Item, ItemError};

impl TryFrom<&ChatCompletionRequestMessage> for Item {
    type Error = ItemError;

    fn try_from(message: &ChatCompletionRequestMessage) -> Result<Self, ItemError> {
        Item::from_json(&serde_json::to_string(message).map_err(ItemError::Json)?)
    }
}

impl TryFrom<&Item> for ChatCompletionRequestMessage {
    type Error = ItemError;

    /// Fields that async-openai does not know are lost; keep the [`Item`] where they matter.
    fn try_from(item: &Item) -> Result<Self, ItemError> {
        serde_json::from_str(item.json()).map_err(ItemError::Json)
    }
}
