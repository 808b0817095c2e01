//! The spans of a resource manager: wait, placement, run and settlement of a task.
//!
//! All are children of the submit; without a trace of the submit, the first wait is the root. The id of the run is the
//! one that its executor passes to called servers. Each span is recorded at its end, after its statement.

use domain::task::{AttemptOutcome, LeaseKey};
use domain::time::Timestamp;
use runtime::clock;
use runtime::otlp::{Kind, SpanRecord, is_on, record};
use runtime::trace::TraceContext;
use std::time::Duration;

/// Upper bound of a run, because its length is reported by the executor.
const LONGEST_RUN: Duration = Duration::from_secs(366 * 24 * 3600);

/// Start of a span, if spans are exported.
pub(crate) fn now() -> Option<Timestamp> {
    is_on().then(clock::wall)
}

/// Records the wait until `began` and the placement. `is_own`: the submit had no trace.
pub(crate) fn placed(
    submit: TraceContext,
    is_own: bool,
    lease: &LeaseKey,
    waited_ms: i64,
    began: Timestamp,
) {
    let due = began - Duration::from_millis(waited_ms.max(0).unsigned_abs());
    let queue = child(submit, "task.queue", due, began, lease);
    let queue = SpanRecord { kind: Kind::Consumer, ..queue };
    record(if is_own && lease.attempt == 1 {
        SpanRecord { context: submit, parent: None, ..queue }
    } else {
        queue
    });
    record(child(submit, "task.place", began, clock::wall(), lease));
}

/// Records a run of length `ran` and its settlement from `began`.
pub(crate) fn settled(
    submit: TraceContext,
    lease: &LeaseKey,
    outcome: AttemptOutcome,
    ran: Duration,
    began: Timestamp,
) {
    let error = (outcome != AttemptOutcome::Succeeded).then(|| outcome.to_string());
    let run = child(submit, "task.run", began - ran.min(LONGEST_RUN), began, lease);
    let context = submit.of_run(lease.task, lease.attempt);
    record(SpanRecord { context, error, ..run });
    record(child(submit, "task.settle", began, clock::wall(), lease));
}

fn child(
    submit: TraceContext,
    name: &'static str,
    start: Timestamp,
    end: Timestamp,
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
