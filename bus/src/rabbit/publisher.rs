//! Publishes batches of hints and answers for each.
//!
//! Called by the batcher through `Bus::publish`. The rule: every batch is answered within the
//! publish time limit, whatever the broker does; without a session that is at once. A lone batch goes
//! past the broker where somebody is known to take it ([`super::direct`]).

use super::confirming;
use super::direct::HintCaller;
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
use lapin::BasicProperties;
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use runtime::trace::TraceContext;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{error, info, warn};

/// Between two looks whether this process must introduce itself.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Calls waiting for the confirming task; beyond it callers wait, within their limit.
const JOBS_WAITING: usize = 256;

#[derive(Clone)]
pub(crate) struct Publisher {
    link: Link,
    limit: Duration,
    healer: Healer,
    /// Into the live session.
    ways: watch::Sender<Option<Ways>>,
}

#[derive(Clone)]
struct Ways {
    /// To its confirming task.
    jobs: mpsc::Sender<Job>,
    /// Past the broker.
    direct: Option<Arc<HintCaller>>,
}

impl Publisher {
    pub(crate) fn new(link: Link, limit: Duration, healer: Healer) -> Self {
        Self { link, limit, healer, ways: watch::Sender::new(None) }
    }

    /// Publishes `batches` to the pool's queue; one outcome each, in their order.
    pub(crate) async fn publish(
        &self,
        pool: &PoolName,
        batches: &[HintBatch],
    ) -> Vec<PublishOutcome> {
        let deadline = clock::monotonic() + self.limit;
        let outcomes = match batches {
            [batch] if self.bring(pool, batch).await => vec![PublishOutcome::Direct],
            _ => self.publish_through(pool, batches, deadline).await,
        };
        metrics::published(&outcomes);
        outcomes
    }

    /// True where somebody took a lone batch past the broker.
    async fn bring(&self, pool: &PoolName, batch: &HintBatch) -> bool {
        let direct = self.ways.borrow().as_ref().and_then(|ways| ways.direct.clone());
        let Some(direct) = direct else { return false };
        clock::timeout(self.limit, direct.bring(pool, batch)).await.unwrap_or(false)
    }

    async fn publish_through(
        &self,
        pool: &PoolName,
        batches: &[HintBatch],
        deadline: Instant,
    ) -> Vec<PublishOutcome> {
        let published = match batches.iter().map(HintBatch::encode).collect::<Result<_, _>>() {
            Ok(bodies) => self.try_publish(pool, bodies, deadline).await,
            Err(error) => {
                error!(%error, "Hints cannot be written as bytes: {error}");
                Err(PublishOutcome::Nacked)
            }
        };
        published.unwrap_or_else(|all| vec![all; batches.len()])
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
        let properties = BasicProperties::default();
        let job = Job { queue, bodies, properties, deadline, reply };
        let handed_over = self.hand_over(&session, pool, job);
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
    async fn hand_over(
        &self,
        session: &Session,
        pool: &PoolName,
        mut job: Job,
    ) -> Result<(), PublishOutcome> {
        let mut ways = self.ways.subscribe();
        let ways = tokio::select! {
            ways = ways.wait_for(Option::is_some) => ways.ok().and_then(|ways| ways.clone()),
            () = session.ended() => None,
        };
        let ways = ways.ok_or(PublishOutcome::ConnectionLost)?;
        if let (Some(direct), [_]) = (&ways.direct, job.bodies.as_slice()) {
            job.properties = direct.introduce(pool, clock::monotonic(), job.properties);
        }
        ways.jobs.send(job).await.map_err(|_| PublishOutcome::ConnectionLost)
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
                    Fault::Amqp(_) | Fault::ClosedAfterTls(_) | Fault::NoSession => {
                        Err(PublishOutcome::ConnectionLost)
                    }
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
            let (entrance, jobs) = mpsc::channel(JOBS_WAITING);
            let direct = session.hint_ip().and_then(HintCaller::open).map(Arc::new);
            let ready = || {
                let direct = direct.clone();
                self.ways.send_replace(Some(Ways { jobs: entrance, direct }));
            };
            let served = tokio::select! {
                served = confirming::serve(&session, jobs, ready) => served,
                () = self.go_past(direct.as_deref()) => Ok(()),
            };
            self.ways.send_replace(None);
            if let Some(direct) = direct {
                direct.end();
            }
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

    /// Hears offers and receipts, and introduces this process, for ever; nothing, where there is no way past the broker.
    async fn go_past(&self, direct: Option<&HintCaller>) {
        match direct {
            Some(direct) => tokio::join!(direct.hear(), self.introduce(direct)).1,
            None => std::future::pending().await,
        }
    }

    async fn introduce(&self, direct: &HintCaller) {
        loop {
            clock::sleep(LOOK_EVERY).await;
            let nothing = [HintBatch { trace: TraceContext::generate(), hints: Vec::new() }];
            for pool in direct.to_introduce(clock::monotonic()) {
                self.publish_through(&pool, &nothing, clock::monotonic() + self.limit).await;
            }
        }
    }
}
