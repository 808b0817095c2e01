//! Publishes batches of hints and returns an outcome for each.
//!
//! Called by the batcher through `Bus::publish`. The rule: every batch gets its outcome within
//! `bus.publish_timeout`, whatever the broker does, and at once while there is no session.

use super::confirming;
use super::fault::Fault;
use super::healer::Healer;
use super::in_flight::Job;
use super::link::Link;
use super::session::Session;
use super::topology;
use crate::hint::HintBatch;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{error, info, warn};

/// Calls that are queued for the confirming task; beyond it callers wait, within their limit.
const JOBS_QUEUED: usize = 256;

#[derive(Clone)]
pub(crate) struct Publisher {
    link: Link,
    limit: Duration,
    healer: Healer,
    /// To the confirming task of the live session.
    jobs: watch::Sender<Option<mpsc::Sender<Job>>>,
}

impl Publisher {
    pub(crate) fn new(link: Link, limit: Duration, healer: Healer) -> Self {
        Self { link, limit, healer, jobs: watch::Sender::new(None) }
    }

    /// Publishes `batches` to the pool's queue; one outcome each, in their order.
    pub(crate) async fn publish(
        &self,
        pool: &PoolName,
        batches: &[HintBatch],
    ) -> Vec<PublishOutcome> {
        let deadline = clock::monotonic() + self.limit;
        let published = match batches.iter().map(HintBatch::encode).collect::<Result<_, _>>() {
            Ok(bodies) => self.try_publish(pool, bodies, deadline).await,
            Err(error) => {
                error!(%error, "Hints cannot be encoded: {error}");
                Err(PublishOutcome::Nacked)
            }
        };
        let outcomes = published.unwrap_or_else(|all| vec![all; batches.len()]);
        metrics::published(&outcomes);
        outcomes
    }

    async fn try_publish(
        &self,
        pool: &PoolName,
        bodies: Vec<Vec<u8>>,
        deadline: Instant,
    ) -> Result<Vec<PublishOutcome>, PublishOutcome> {
        let session = self.link.session().ok_or(PublishOutcome::ConnectionLost)?;
        if session.is_blocked() {
            return Err(PublishOutcome::Blocked);
        }
        if let Err(outcome) = self.ensure_pool(&session, pool).await {
            self.healer.note(&session, pool, &[outcome]);
            return Err(outcome);
        }
        let queue = topology::hint_queue(&session.settings.prefix, pool);
        let (reply, answer) = oneshot::channel();
        let left = deadline.saturating_duration_since(clock::monotonic());
        let enqueued = self.enqueue(&session, Job { queue, bodies, deadline, reply });
        clock::timeout(left, enqueued).await.map_err(|_| PublishOutcome::TimedOut)??;
        // The task replies by the deadline. It drops the sender without a reply only when the session ends.
        let outcomes = answer.await.map_err(|_| PublishOutcome::ConnectionLost)?;
        self.healer.note(&session, pool, &outcomes);
        if outcomes.contains(&PublishOutcome::Returned) {
            let left = deadline.saturating_duration_since(clock::monotonic());
            // On a time-out the next publish finds the queue missing once more and declares it then.
            let _ = clock::timeout(left, self.restore(&session, pool)).await;
        }
        Ok(outcomes)
    }

    /// Queues a job for the session's confirming task, which may still be opening its channel.
    async fn enqueue(&self, session: &Session, job: Job) -> Result<(), PublishOutcome> {
        let mut jobs = self.jobs.subscribe();
        let jobs = tokio::select! {
            jobs = jobs.wait_for(Option::is_some) => jobs.ok().and_then(|jobs| jobs.clone()),
            () = session.ended() => None,
        };
        let jobs = jobs.ok_or(PublishOutcome::ConnectionLost)?;
        jobs.send(job).await.map_err(|_| PublishOutcome::ConnectionLost)
    }

    async fn ensure_pool(&self, session: &Session, pool: &PoolName) -> Result<(), PublishOutcome> {
        match clock::timeout(self.limit, session.ensure_pool(pool)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(fault)) => {
                let cause = ErrorChain(&fault).to_string();
                warn!(%pool, cause, "The hint queue of pool `{pool}` could not be declared: {cause}");
                session.give_up_if_silent(&fault);
                match fault {
                    Fault::TimedOut(_) => Err(PublishOutcome::TimedOut),
                    Fault::Amqp(_)
                    | Fault::ClosedAfterTls(_)
                    | Fault::Files(_)
                    | Fault::NoSession => Err(PublishOutcome::ConnectionLost),
                }
            }
            Err(_) => {
                session.give_up();
                Err(PublishOutcome::TimedOut)
            }
        }
    }

    /// Declares a queue that was found missing, so that the next publish arrives.
    async fn restore(&self, session: &Session, pool: &PoolName) {
        session.forget_pool(pool).await;
        if self.ensure_pool(session, pool).await.is_ok() {
            info!(%pool, "The hint queue of pool `{pool}` was missing and is declared again");
        }
    }

    /// Serves each session in turn; ends with the process.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        loop {
            let session = tokio::select! {
                session = self.link.connected() => session,
                () = shutdown.cancelled() => return,
            };
            let (sender, jobs) = mpsc::channel(JOBS_QUEUED);
            let ready = || {
                self.jobs.send_replace(Some(sender));
            };
            let served = confirming::serve(&session, jobs, ready).await;
            self.jobs.send_replace(None);
            // Where the session has ended, the link has logged it.
            if let Err(fault) = served
                && session.is_connected()
            {
                let cause = ErrorChain(&fault).to_string();
                warn!(cause, "Publishing failed, the connection is made anew: {cause}");
                session.give_up();
            }
            session.ended().await;
        }
    }
}
