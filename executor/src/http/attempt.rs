//! One attempt of an HTTP call, from its assignment to its end.
//!
//! Spawned by the agent, one task each. Whatever comes first ends it: the lease, the agent's word, the cap, or the
//! exchange itself. They are looked at in this order, so that after a pause of any length nothing is sent under
//! a lease that is over.

use super::end::{HttpEnd, Judged};
use super::request::{CallError, request};
use super::transcript::Transcript;
use crate::due::Due;
use crate::metrics::{HTTP_CALLS, HTTP_SECONDS};
use crate::output::{AttemptOutput, OutputQueue};
use crate::supervise::monotonic_ns;
use domain::target::TargetPolicy;
use domain::task::{CompleteOn, HttpRun, LeaseKey};
use egress::{Answered, Client, Rules, Stage, Waits};
use runtime::clock::{self, Instant};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Everything an attempt needs.
pub(super) struct Assigned {
    pub(super) lease: LeaseKey,
    pub(super) run: HttpRun,
    pub(super) traceparent: String,
    pub(super) due: Due,
    pub(super) policy: TargetPolicy,
    pub(super) cap_until: Instant,
    pub(super) client: Arc<Client>,
    /// Most of the last answer's body that is read, bytes.
    pub(super) body_limit: u64,
    pub(super) output: Arc<AttemptOutput>,
    pub(super) queue: Arc<OutputQueue>,
    /// The agent wants it to end.
    pub(super) stop: Arc<Notify>,
    /// When the lease is over, in `monotonic_ns`.
    pub(super) lease_until: watch::Receiver<u64>,
}

/// Runs the attempt; also says how long of that it only waited for its turn. When this returns its connection is closed.
pub(super) async fn run(assigned: Assigned) -> (HttpEnd, Duration) {
    let (began, waits) = (clock::monotonic(), Waits::default());
    let (output, queue) = (Arc::clone(&assigned.output), Arc::clone(&assigned.queue));
    let end = race(assigned, &waits).await;
    queue.finish(&output);
    HTTP_CALLS.with(&[label(&end)]).inc();
    HTTP_SECONDS.with(&[]).observe((clock::monotonic() - began).as_secs_f64());
    (end, waits.total())
}

async fn race(assigned: Assigned, waits: &Waits) -> HttpEnd {
    let Assigned { lease, run, traceparent, due, policy, cap_until, client, .. } = assigned;
    let request = match request(&run, &lease, &traceparent, due) {
        Ok(request) => request,
        Err(error) => return HttpEnd::Failed { reason: unusable(error), status: None },
    };
    let lease_until = assigned.lease_until.clone();
    let rules = Rules {
        tenant: lease.tenant,
        policy,
        timeout: run.timeout.unwrap_or(Duration::MAX),
        success: &run.success,
        body_limit: assigned.body_limit,
        // Checked before anything is sent: the timers below may be late by a poll.
        may_go_on: &|| monotonic_ns() < *lease_until.borrow(),
        waits,
    };
    let completes = run.complete;
    let (output, queue) = (assigned.output, assigned.queue);
    let mut transcript = Transcript::new(output, queue, assigned.body_limit);
    let done = tokio::select! {
        biased;
        () = over(assigned.lease_until) => return HttpEnd::Cut,
        () = assigned.stop.notified() => return HttpEnd::Cut,
        () = clock::sleep_until(cap_until) => return match waits.stage() {
            Stage::Busy => HttpEnd::OverCap,
            Stage::NotBegun => HttpEnd::NoTurn { asked: false },
            Stage::Between => HttpEnd::NoTurn { asked: true },
        },
        done = client.exchange(request, rules, &mut transcript) => done,
    };
    match done {
        Ok(Answered { status, succeeded: true, .. }) => {
            let judged = match completes {
                CompleteOn::Answer => Judged::Good(transcript.value()),
                CompleteOn::Callback => Judged::Called,
            };
            HttpEnd::Answered { status, judged }
        }
        Ok(Answered { status, retry_after, .. }) => {
            HttpEnd::Answered { status, judged: Judged::Bad(retry_after) }
        }
        Err(failure) => HttpEnd::of_failure(&failure),
    }
}

fn unusable(error: CallError) -> String {
    format!("could not be started: {error}")
}

/// Resolves once the lease is over.
async fn over(mut lease_until: watch::Receiver<u64>) {
    let mut is_watched = true;
    loop {
        let left = lease_until.borrow_and_update().saturating_sub(monotonic_ns());
        if left == 0 {
            return;
        }
        tokio::select! {
            () = clock::sleep(Duration::from_nanos(left)) => {}
            changed = lease_until.changed(), if is_watched => is_watched = changed.is_ok(),
        }
    }
}

const fn label(end: &HttpEnd) -> &'static str {
    match end {
        HttpEnd::Answered { status: 200..=299, .. } => "2xx",
        HttpEnd::Answered { status: 300..=399, .. } => "3xx",
        HttpEnd::Answered { status: 400..=499, .. } => "4xx",
        HttpEnd::Answered { .. } => "5xx",
        HttpEnd::Failed { .. } => "none",
        HttpEnd::OverCap => "over_cap",
        HttpEnd::NoTurn { .. } => "no_turn",
        HttpEnd::Cut => "cut",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputLimits;
    use domain::id::{SessionId, TaskId, TenantId};
    use domain::pool::PoolPolicy;
    use egress::Lookups;
    use std::net::TcpListener;

    #[tokio::test]
    async fn nothing_is_sent_under_a_lease_that_is_over() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let lease = LeaseKey {
            tenant: TenantId::fresh(),
            task: TaskId::fresh(),
            attempt: 1,
            session: SessionId::fresh(),
        };
        let (_sender, lease_until) = watch::channel(1);
        let limits = OutputLimits { head: 1000, tail: 1000 };
        let (name_servers, timeout) = (Vec::new(), Duration::from_secs(5));
        let lookups = Lookups { name_servers, timeout, most: 1, most_per_tenant: 1 };
        let (end, _) = run(Assigned {
            lease,
            run: serde_json::from_value(serde_json::json!({"method": "GET", "url": url})).unwrap(),
            traceparent: String::new(),
            due: Due::default(),
            policy: PoolPolicy { private_targets: true, ..PoolPolicy::default() }.into(),
            cap_until: clock::monotonic() + Duration::from_secs(20),
            client: Arc::new(Client::new(&lookups)),
            body_limit: 2000,
            output: Arc::new(AttemptOutput::new(lease, limits)),
            queue: Arc::new(OutputQueue::default()),
            stop: Arc::new(Notify::new()),
            lease_until,
        })
        .await;
        assert_eq!(end, HttpEnd::Cut);
        assert!(listener.accept().is_err(), "it was connected to");
    }
}
