//! Counts requests that are no HTTP, where the HTTP server would log each as an error.
//!
//! Part of what `telemetry` sets up. Anybody can send such requests, as many as they like, and no person needs to look at one. The
//! server tells of them in its log alone, so they are counted where its log lines pass; at `telemetry.log = "off"` none do.

use crate::metrics::{Counter, counter};
use std::fmt::Debug;
use std::sync::LazyLock;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// The part of the HTTP server that reads requests.
const READER: &str = "actix_http::h1";
/// A request that cannot be read, once for each.
const UNREADABLE: &str = "stream error: ";
/// What is said before that of a head that is too long.
const TOO_LONG: &str = "MAX_BUFFER_SIZE unprocessed data reached";

static MALFORMED: LazyLock<Counter> = LazyLock::new(|| {
    let help = "Connections closed because what came was no HTTP request";
    counter("berth_http_malformed_requests_total", help, &[]).with(&[])
});

/// Keeps these lines from all layers.
pub(crate) struct CountMalformed;

impl<S: Subscriber> Layer<S> for CountMalformed {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let of = event.metadata();
        if *of.level() != Level::ERROR || !of.target().starts_with(READER) {
            return true;
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        let Message(text) = message;
        if text.starts_with(UNREADABLE) {
            MALFORMED.inc();
            return false;
        }
        !text.starts_with(TOO_LONG)
    }
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tracing_subscriber::layer::SubscriberExt;

    /// Keeps what is logged.
    struct Lines(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            let mut message = Message(String::new());
            event.record(&mut message);
            self.0.lock().unwrap().push(message.0);
        }
    }

    fn counted() -> u32 {
        let text = crate::metrics::render();
        let line =
            text.lines().find(|line| line.starts_with("berth_http_malformed_requests_total "));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    #[test]
    fn a_malformed_request_is_counted_and_every_other_error_is_logged() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let logging =
            tracing_subscriber::registry().with(Lines(Arc::clone(&lines))).with(CountMalformed);
        let before = counted();
        tracing::subscriber::with_default(logging, || {
            tracing::error!(target: "actix_http::h1::dispatcher", "stream error: {}", "no method");
            tracing::error!(
                target: "actix_http::h1::decoder",
                "MAX_BUFFER_SIZE unprocessed data reached, closing"
            );
            tracing::error!(target: "actix_http::h1::dispatcher", "write zero; closing");
            tracing::error!("stream error: of something else");
            tracing::warn!("a warning");
        });
        assert_eq!(counted() - before, 1);
        let expected = ["write zero; closing", "stream error: of something else", "a warning"];
        assert_eq!(*lines.lock().unwrap(), expected);
    }
}
