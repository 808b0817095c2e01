//! The spans that a resource manager exports: a task's wait, its placement, its run, and how its end was written down.
//!
//! All are children of the submit; of a task that was submitted under no trace its first wait is the root. The run's id is the one that
//! its executor has told to whoever the task calls. Each is recorded when its end is known, which is after the statement it is about.

use domain::task::AttemptOutcome;
use domain::time::Timestamp;
use runtime::clock;
use runtime::otlp::{Kind, SpanRecord, is_on, record};
use runtime::trace::TraceContext;
use std::time::Duration;
use store::lease::LeaseKey;

/// A run is not shown as longer. Its length is its executor's word, and what begins before all time is no time.
const LONGEST_RUN: Duration = Duration::from_secs(366 * 24 * 3600);

/// When something began, where spans are exported.
pub(crate) fn now() -> Option<Timestamp> {
    is_on().then(clock::wall)
}

/// A task waited until `began`, was then placed, and its executor has been told. `is_own`: it was submitted under no trace.
pub(crate) fn placed(
    (submit, is_own): (TraceContext, bool),
    lease: &LeaseKey,
    waited_ms: i64,
    began: Timestamp,
) {
    let due = began - Duration::from_millis(waited_ms.max(0).unsigned_abs());
    let queue = child(submit, "task.queue", (due, began), lease);
    let queue = SpanRecord { kind: Kind::Consumer, ..queue };
    record(if is_own && lease.attempt == 1 {
        SpanRecord { context: submit, parent: None, ..queue }
    } else {
        queue
    });
    record(child(submit, "task.place", (began, clock::wall()), lease));
}

/// An attempt that had run for `ran` was reported, and from `began` on its end was written down.
pub(crate) fn settled(
    submit: TraceContext,
    lease: &LeaseKey,
    outcome: AttemptOutcome,
    ran: Duration,
    began: Timestamp,
) {
    let error = (outcome != AttemptOutcome::Succeeded).then(|| outcome.to_string());
    let run = child(submit, "task.run", (began - ran.min(LONGEST_RUN), began), lease);
    let context = submit.of_run(lease.task, lease.attempt);
    record(SpanRecord { context, error, ..run });
    record(child(submit, "task.settle", (began, clock::wall()), lease));
}

fn child(
    submit: TraceContext,
    name: &'static str,
    (start, end): (Timestamp, Timestamp),
    lease: &LeaseKey,
) -> SpanRecord {
    let attributes = vec![
        ("task.id", lease.task.to_string()),
        ("tenant.id", lease.tenant.to_string()),
        ("lease.attempt", lease.attempt.to_string()),
        ("session.id", lease.session.to_string()),
    ];
    let (context, parent) = (submit.child(), Some(submit));
    SpanRecord { name, context, parent, kind: Kind::Internal, start, end, attributes, error: None }
}
