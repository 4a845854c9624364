use opentelemetry::{Array, Value};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};
use std::time::Duration;

/// What the conventions want as lists of words. A field of `tracing` has no such type, so they come as JSON.
const LISTS: [&str; 2] = ["gen_ai.response.finish_reasons", "gen_ai.request.stop_sequences"];

/// Turns those into lists on the way out.
#[derive(Debug)]
pub(crate) struct Lists<E>(pub(crate) E);

impl<E: SpanExporter> SpanExporter for Lists<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes.filter(|attribute| LISTS.contains(&attribute.key.as_str())) {
            if let Ok(words) = serde_json::from_str::<Vec<String>>(&attribute.value.as_str()) {
                attribute.value = Value::Array(Array::String(words.into_iter().map(Into::into).collect()));
            }
        }
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}
