//! A live lease in memory, with what its settlement needs.

use domain::id::TaskId;
use domain::resources::Resources;
use domain::task::{RetryPolicy, Run, wait_after_return};
use runtime::clock::{self, Instant};
use runtime::otlp;
use runtime::trace::TraceContext;
use std::sync::Arc;
use std::time::Duration;
use store::lease::LiveLease;
use store::task::transition::Placed;

/// A live lease.
#[derive(Debug, Clone)]
pub(crate) struct HeldLease {
    pub assignment: u64,
    pub resources: Resources,
    pub port_first: u32,
    pub failures: u32,
    pub max_attempts: u32,
    /// `None` is the default policy.
    pub retry: Option<RetryPolicy>,
    pub at_most_once: bool,
    /// Target of its HTTP call, if known.
    pub target: Option<Arc<str>>,
    /// Trace of its submit, or its own, if spans are exported.
    pub trace: Option<TraceContext>,
    /// When it was added here: after its placement or adoption.
    pub since: Instant,
    /// The executor confirmed it.
    pub accepted: bool,
    /// Its result is being settled, or the lease is being ended.
    pub ending: bool,
}

impl HeldLease {
    pub(crate) fn of_placed(placed: &Placed, resources: Resources, port_first: u32) -> Self {
        Self {
            assignment: placed.assignment,
            resources,
            port_first,
            failures: placed.failures,
            max_attempts: placed.max_attempts,
            retry: placed.retry.clone(),
            at_most_once: placed.at_most_once,
            target: placed.run.known().and_then(Run::target).map(Arc::from),
            trace: trace_of(placed.lease.task, placed.traceparent.as_deref()),
            since: clock::monotonic(),
            accepted: false,
            ending: false,
        }
    }

    pub(crate) fn of_live(live: &LiveLease) -> Self {
        Self {
            assignment: live.assignment,
            resources: live.resources,
            port_first: live.port_first,
            failures: live.failures,
            max_attempts: live.max_attempts,
            retry: live.retry.clone(),
            at_most_once: live.at_most_once,
            target: live.target.as_deref().map(Arc::from),
            trace: trace_of(live.key.task, live.traceparent.as_deref()),
            since: clock::monotonic(),
            accepted: true,
            ending: false,
        }
    }

    /// Back-off of its task if attempt number `attempt` is returned.
    pub(crate) fn wait_after_return(&self, attempt: u32, unit: f64) -> Duration {
        let returned = attempt.saturating_sub(self.failures);
        wait_after_return(returned, self.since.elapsed(), unit)
    }
}

/// The trace of the submit, or the task's own, if spans are exported.
pub(crate) fn trace_of(task: TaskId, traceparent: Option<&str>) -> Option<TraceContext> {
    otlp::is_on().then(|| origin_of(task, traceparent))
}

/// The trace of the submit, or the task's own.
pub(super) fn origin_of(task: TaskId, traceparent: Option<&str>) -> TraceContext {
    submitted_under(traceparent).unwrap_or_else(|| TraceContext::of_task(task))
}

/// The trace of the submit, if any.
pub(crate) fn submitted_under(traceparent: Option<&str>) -> Option<TraceContext> {
    traceparent?.parse().ok()
}
