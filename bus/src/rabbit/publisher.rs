//! Publishes batches of hints and answers for each.
//!
//! Called by the batcher through `Bus::publish`. The rule: every batch is answered within the
//! publish time limit, whatever the broker does; without a session that is at once.

use super::confirming;
use super::fault::Fault;
use super::healer::Healer;
use super::in_flight::Job;
use super::link::Link;
use super::session::Session;
use super::topology;
use crate::metrics;
use crate::outcome::PublishOutcome;
use domain::id::PoolName;
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{info, warn};

/// Calls waiting for the confirming task; beyond it callers wait, within their limit.
const JOBS_WAITING: usize = 256;

#[derive(Clone)]
pub(crate) struct Publisher {
    link: Link,
    limit: Duration,
    healer: Healer,
    /// The way into the live session's confirming task.
    jobs: watch::Sender<Option<mpsc::Sender<Job>>>,
}

impl Publisher {
    pub(crate) fn new(link: Link, limit: Duration, healer: Healer) -> Self {
        Self { link, limit, healer, jobs: watch::Sender::new(None) }
    }

    /// Publishes `bodies` to the pool's queue; one outcome each, in their order.
    pub(crate) async fn publish(
        &self,
        pool: &PoolName,
        bodies: Vec<Vec<u8>>,
    ) -> Vec<PublishOutcome> {
        let count = bodies.len();
        let outcomes = match self.try_publish(pool, bodies).await {
            Ok(outcomes) => outcomes,
            Err(all) => vec![all; count],
        };
        metrics::published(&outcomes);
        outcomes
    }

    async fn try_publish(
        &self,
        pool: &PoolName,
        bodies: Vec<Vec<u8>>,
    ) -> Result<Vec<PublishOutcome>, PublishOutcome> {
        let began = clock::monotonic();
        let deadline = began + self.limit;
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
        let handed_over = self.hand_over(&session, Job { queue, bodies, deadline, reply });
        clock::timeout(left, handed_over).await.map_err(|_| PublishOutcome::TimedOut)??;
        // The task answers by the deadline. That it ends without a word means that the session did.
        let outcomes = answer.await.map_err(|_| PublishOutcome::ConnectionLost)?;
        self.healer.note(&session, pool, &outcomes);
        if outcomes.contains(&PublishOutcome::Returned) {
            let left = deadline.saturating_duration_since(clock::monotonic());
            // Out of time: the next publish finds it missing once more and declares it then.
            let _ = clock::timeout(left, self.restore(&session, pool)).await;
        }
        Ok(outcomes)
    }

    /// Gives a job to the session's confirming task, which may still be opening its channel.
    async fn hand_over(&self, session: &Session, job: Job) -> Result<(), PublishOutcome> {
        let mut entrance = self.jobs.subscribe();
        let jobs = tokio::select! {
            jobs = entrance.wait_for(Option::is_some) => jobs.ok().and_then(|jobs| jobs.clone()),
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
                match fault {
                    Fault::TimedOut(_) => Err(PublishOutcome::TimedOut),
                    Fault::Amqp(_) | Fault::NoSession => Err(PublishOutcome::ConnectionLost),
                }
            }
            Err(_) => Err(PublishOutcome::TimedOut),
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
            let (entrance, jobs) = mpsc::channel(JOBS_WAITING);
            let served = confirming::serve(&session, jobs, || {
                self.jobs.send_replace(Some(entrance));
            })
            .await;
            self.jobs.send_replace(None);
            // Where the session is over anyway, the link has said so.
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
