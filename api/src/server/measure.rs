//! Counts and times requests, by route.

use actix_web::http::StatusCode;
use parking_lot::RwLock;
use runtime::metrics::{Counter, CounterVec, Histogram, counter, histogram};
use std::sync::LazyLock;
use std::time::Duration;

static REQUESTS: LazyLock<CounterVec> = LazyLock::new(|| {
    counter("berth_http_requests_total", "Requests answered", &["route", "method", "status"])
});

/// The series of one route; looked up once for each status.
pub(super) struct Measure {
    route: &'static str,
    method: &'static str,
    seconds: Histogram,
    by_status: RwLock<Vec<(u16, Counter)>>,
}

impl Measure {
    /// `route` is the path with its `{id}`, or `unmatched`: never what a client made up.
    pub(super) fn new(route: &'static str, method: &'static str) -> Self {
        let seconds = histogram(
            "berth_http_request_seconds",
            "Time to the answer's head",
            &["route", "method"],
        );
        Self {
            route,
            method,
            seconds: seconds.with(&[route, method]),
            by_status: RwLock::default(),
        }
    }

    pub(super) fn answered(&self, status: StatusCode, took: Duration) {
        self.seconds.observe_duration(took);
        let status = status.as_u16();
        let known = self.by_status.read();
        if let Some((_, counter)) = known.iter().find(|(s, _)| *s == status) {
            counter.inc();
            return;
        }
        drop(known);
        let counter = REQUESTS.with(&[self.route, self.method, &status.to_string()]);
        counter.inc();
        self.by_status.write().push((status, counter));
    }
}
