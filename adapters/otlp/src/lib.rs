//! The traces of an agent, sent to an OpenTelemetry collector by OTLP over HTTP.
//!
//! The crate tells its spans through `tracing`. What is needed beyond it: a [`provider`] that exports, a [`layer`] that hands the
//! spans over, and one correction, since a field of `tracing` cannot hold a list.
//!
//! ```no_run
//! use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = insomnia_tasks_otlp::provider(None)?;
//! tracing_subscriber::registry().with(insomnia_tasks_otlp::layer(&provider)).init();
//! // agents run here
//! provider.shutdown()?; // sends what is left
//! # Ok(()) }
//! ```

mod lists;

use std::env;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::lists::Lists;

/// Exports spans in batches, from a thread of its own, to this address; by default to the one that `OTEL_EXPORTER_OTLP_ENDPOINT`
/// names, or a collector on this machine. `OTEL_SERVICE_NAME` names the service. An address ends in `/v1/traces`.
///
/// # Errors
/// If the address or one of the variables cannot be used.
pub fn provider(endpoint: Option<&str>) -> Result<SdkTracerProvider, ExporterBuildError> {
    let mut exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
    if let Some(endpoint) = endpoint {
        exporter = exporter.with_endpoint(endpoint);
    }
    let mut resource = Resource::builder();
    if env::var_os("OTEL_SERVICE_NAME").is_none() {
        resource = resource.with_service_name("insomnia-tasks");
    }
    let provider = SdkTracerProvider::builder().with_resource(resource.build());
    Ok(provider.with_batch_exporter(Lists(exporter.build()?)).build())
}

/// Hands the crate's spans and events to this provider, and nobody else's.
pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>(provider: &SdkTracerProvider) -> impl Layer<S> {
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("insomnia-tasks"))
        // where in this crate a span begins tells an operator nothing
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(Targets::new().with_target("insomnia_tasks", LevelFilter::DEBUG))
}
