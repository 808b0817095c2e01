//! One attempt of an HTTP call, from its assignment to its end.
//!
//! Spawned by the agent, one task each. Whatever comes first ends it: the lease, the agent's word, the cap, or the
//! exchange itself. They are looked at in this order, so that after a pause of any length nothing is sent under
//! a lease that is over.

use super::call::{Call, CallError};
use super::end::{Failure, HttpEnd};
use super::exchange::Exchange;
use super::network::Network;
use super::tls::Tls;
use super::transcript::Transcript;
use super::waits::{Stage, Waits};
use crate::due::Due;
use crate::metrics::{HTTP_CALLS, HTTP_SECONDS};
use crate::output::{AttemptOutput, OutputQueue};
use crate::supervise::monotonic_ns;
use domain::target::TargetPolicy;
use domain::task::HttpRun;
use protocol::LeaseKey;
use runtime::clock::{self, Instant};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Everything an attempt needs.
pub(crate) struct Assigned<N> {
    pub(crate) lease: LeaseKey,
    pub(crate) run: HttpRun,
    pub(crate) traceparent: String,
    pub(crate) due: Due,
    pub(crate) policy: TargetPolicy,
    pub(crate) cap_until: Instant,
    pub(crate) network: Arc<N>,
    pub(crate) tls: Arc<Tls>,
    /// Most of the last answer's body that is read, bytes.
    pub(crate) body_limit: u64,
    pub(crate) output: Arc<AttemptOutput>,
    pub(crate) queue: Arc<OutputQueue>,
    /// The agent wants it to end.
    pub(crate) stop: Arc<Notify>,
    /// When the lease is over, in `monotonic_ns`.
    pub(crate) lease_until: watch::Receiver<u64>,
}

/// Runs the attempt; also says how long of that it only waited for its turn. When this returns its connection is closed.
pub(crate) async fn run<N: Network>(assigned: Assigned<N>) -> (HttpEnd, Duration) {
    let (began, waits) = (clock::monotonic(), Waits::default());
    let (output, queue) = (Arc::clone(&assigned.output), Arc::clone(&assigned.queue));
    let end = race(assigned, &waits).await;
    queue.finish(&output);
    HTTP_CALLS.with(&[label(&end)]).inc();
    HTTP_SECONDS.with(&[]).observe((clock::monotonic() - began).as_secs_f64());
    (end, waits.total())
}

async fn race<N: Network>(assigned: Assigned<N>, waits: &Waits) -> HttpEnd {
    let Assigned { lease, run, traceparent, due, policy, cap_until, network, tls, .. } = assigned;
    let call = match Call::new(&run, &lease, &traceparent, due) {
        Ok(call) => call,
        Err(error) => return HttpEnd::Failed { reason: unusable(error), status: None },
    };
    let lease_until = assigned.lease_until.clone();
    let exchange = Exchange {
        tenant: lease.tenant,
        timeout: run.timeout.unwrap_or(Duration::MAX),
        waits,
        policy,
        network: network.as_ref(),
        tls: tls.as_ref(),
        success: &run.success,
        body_limit: assigned.body_limit,
        // Looked at before anything is sent: the timers below may be late by a poll.
        may_go_on: &|| monotonic_ns() < *lease_until.borrow(),
        transcript: Transcript::new(assigned.output, assigned.queue),
    };
    tokio::select! {
        biased;
        () = over(assigned.lease_until) => HttpEnd::Cut,
        () = assigned.stop.notified() => HttpEnd::Cut,
        () = clock::sleep_until(cap_until) => match waits.stage() {
            Stage::Busy => HttpEnd::OverCap,
            Stage::NotBegun => HttpEnd::NoTurn { asked: false },
            Stage::Between => HttpEnd::NoTurn { asked: true },
        },
        done = exchange.run(call) => match done {
            Ok(end) => end,
            Err(Failure::LeaseOver) => HttpEnd::Cut,
            Err(failure) => {
                HttpEnd::Failed { status: failure.status(), reason: failure.to_string() }
            }
        },
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
