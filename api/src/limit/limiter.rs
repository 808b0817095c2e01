//! Admits requests of peers and submissions of tenants. One per process.
//!
//! Called by `dispatch` for each request, and by the handlers that submit. The rule: over all processes a tenant is admitted no more
//! than its plan's rates, and no request is refused, or waits longer than for two calls to Redis, because Redis is away.

use super::bucket::{TenantBucket, Waiting};
use super::decision::{Decision, Moment, Rates, Shortage};
use super::headers::{RATE_LIMIT, RATE_LIMIT_POLICY, policy, rate_limit};
use super::keyed::KeyedLimit;
use super::lease::RateUse;
use super::metrics::Metrics;
use super::mode::{Mode, ModeSwitch};
use super::plans::Plans;
use super::refusal;
use super::shared::{Failure, Grant, LeaseRequest, NotRedis, Redis};
use super::unclaimed::Unclaimed;
use crate::problem::Problem;
use actix_web::http::header::HeaderMap;
use api_types::RateName;
use domain::id::TenantId;
use identity::{Caller, Peer};
use parking_lot::RwLock;
use runtime::clock::monotonic;
use runtime::config::Config;
use runtime::error_chain::ErrorChain;
use runtime::metrics::Counter;
use runtime::tasks::TaskGroup;
use std::collections::HashMap;
use std::sync::Arc;
use store::connect::SubmitDb;
use store::idempotency::IdempotencyKey;
use store::{StoreError, TenantScope};
use tokio::sync::{Notify, OwnedSemaphorePermit};

/// Requests per second, and at once, from one peer to sign in or up: comparing a password takes some 20 ms of a core.
const SIGN_INS: (u32, u32) = (20, 200);
/// Look-ups of idempotency keys at an exhausted limit, per second and at once, per tenant.
const LOOK_UPS: (u32, u32) = (100, 200);

/// The limiter.
pub(crate) struct Limiter {
    pub(super) peers: KeyedLimit<Peer>,
    pub(super) sign_ins: KeyedLimit<Peer>,
    pub(super) look_ups: KeyedLimit<TenantId>,
    buckets: RwLock<HashMap<TenantId, Arc<TenantBucket>>>,
    pub(super) switch: ModeSwitch,
    pub(super) redis: Option<Redis>,
    pub(super) plans: Plans,
    pub(super) db: SubmitDb,
    pub(super) metrics: Metrics,
    /// Wakes the periodic call to Redis.
    pub(super) retry: Arc<Notify>,
    leases: Counter,
    reads: Counter,
    tasks: TaskGroup,
}

impl Limiter {
    /// # Errors
    /// When the settings of Redis are not usable. A Redis that is away is no error.
    pub(crate) fn new(
        config: &Config,
        (db, tasks): (SubmitDb, TaskGroup),
    ) -> Result<Self, NotRedis> {
        let redis = config.redis.is_used().then(|| Redis::open(&config.redis)).transpose()?;
        let (api, metrics) = (&config.api, Metrics::new());
        metrics.local.set(f64::from(u8::from(redis.is_some())));
        Ok(Self {
            peers: KeyedLimit::new((api.peer_requests_per_second, api.peer_request_burst)),
            sign_ins: KeyedLimit::new(SIGN_INS),
            look_ups: KeyedLimit::new(LOOK_UPS),
            buckets: RwLock::default(),
            switch: ModeSwitch::new(redis.is_some(), monotonic()),
            redis,
            plans: Plans::default(),
            db,
            leases: metrics.calls.with(&["lease"]),
            reads: metrics.calls.with(&["look"]),
            metrics,
            retry: Arc::default(),
            tasks,
        })
    }

    /// One request of a peer; one without an address is not counted.
    ///
    /// # Errors
    /// `rate_limited` when it has sent too many.
    pub(crate) fn pass(&self, peer: Option<Peer>) -> Result<(), Problem> {
        self.pass_one_of((&self.peers, RateName::PeerRequestsPerSecond), peer)
    }

    /// A peer's request to sign in or up, or with an invitation.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub(crate) fn pass_sign_in(&self, peer: Option<Peer>) -> Result<(), Problem> {
        self.pass_one_of((&self.sign_ins, RateName::PeerSignInsPerSecond), peer)
    }

    fn pass_one_of(
        &self,
        (peers, limit): (&KeyedLimit<Peer>, RateName),
        peer: Option<Peer>,
    ) -> Result<(), Problem> {
        let Some(peer) = peer else { return Ok(()) };
        peers.check(&peer).map_err(|wait| {
            self.metrics.limited(limit, 1);
            let rates = Rates { per_second: 1, burst: 1, per_hour: 0 };
            refusal::whole(Shortage { limit, wait }, rates, None)
        })
    }

    /// The bucket of the caller's tenant, with its plan as of now.
    pub(crate) fn bucket(&self, caller: &Caller) -> Arc<TenantBucket> {
        let (tenant, rates) = (caller.tenant(), Rates::from(caller.limits()));
        let known = self.buckets.read().get(&tenant).map(Arc::clone);
        let bucket = known.unwrap_or_else(|| {
            let fresh = || Arc::new(TenantBucket::new(tenant, rates, self.switch.mode()));
            Arc::clone(self.buckets.write().entry(tenant).or_insert_with(fresh))
        });
        bucket.set_rates(rates);
        bucket
    }

    /// All tenants' buckets.
    pub(super) fn buckets(&self) -> Vec<Arc<TenantBucket>> {
        self.buckets.read().values().map(Arc::clone).collect()
    }

    /// Forgets buckets without which nothing is lost; returns how many remain.
    pub(super) fn forget_idle(&self) -> usize {
        let (mut buckets, now) = (self.buckets.write(), Moment::now());
        // A request may be about to use one that it holds.
        buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.lease().is_idle(&now));
        buckets.len()
    }

    /// Admits the first of `tasks`; none of none costs nothing.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        bucket: &Arc<TenantBucket>,
        tasks: u64,
    ) -> Decision {
        if tasks == 0 {
            return Decision { admitted: 0, shortage: None };
        }
        self.restore(bucket).await;
        let at_hand = bucket.lease().admit(tasks, self.switch.mode(), &Moment::now());
        let decision = match at_hand {
            Some(decision) => decision,
            None => self.admit_by_call(bucket, tasks).await,
        };
        self.metrics.admitted.inc_by(decision.admitted);
        if let Some(shortage) = decision.shortage {
            self.metrics.limited(shortage.limit, tasks - decision.admitted);
        }
        decision
    }

    async fn admit_by_call(self: &Arc<Self>, bucket: &Arc<TenantBucket>, tasks: u64) -> Decision {
        let waiting = Waiting::new(bucket, tasks);
        // Never closed.
        let permit = Arc::clone(&bucket.calls).acquire_owned().await.ok();
        // The call before may have leased for this submission, too, or have failed.
        let request = {
            let (mut lease, now) = (bucket.lease(), Moment::now());
            if let Some(decision) = lease.admit(tasks, self.switch.mode(), &now) {
                return decision;
            }
            lease.request(waiting.all(), &now)
        };
        // Beside the request: where the client disconnects, the debts and tokens that go with the call are still settled.
        let called =
            Arc::clone(self).lease(Arc::clone(bucket), (request, tasks), (waiting, permit));
        match self.tasks.spawn("api.limit_lease", called).join().await {
            Ok(unclaimed) => unclaimed.claim(),
            Err(_) => {
                let (mut lease, now) = (bucket.lease(), Moment::now());
                lease.admit_without_call(tasks, self.switch.fallback(), &now)
            }
        }
    }

    /// Leases what is in `request`, and admits the first of `tasks`.
    async fn lease(
        self: Arc<Self>,
        bucket: Arc<TenantBucket>,
        (request, tasks): (LeaseRequest, u64),
        turn: (Waiting, Option<OwnedSemaphorePermit>),
    ) -> Unclaimed<impl Fn(u64) + Send> {
        let grant = self.call(&bucket, &request, &self.leases).await;
        let decision = {
            let (mut lease, now) = (bucket.lease(), Moment::now());
            match grant {
                Some(grant) => lease.granted((&request, &grant), tasks, &now),
                None => lease.admit_without_call(tasks, self.switch.fallback(), &now),
            }
        };
        // The next one asks for those that still wait.
        drop(turn);
        Unclaimed::new(decision, move |tasks| self.give_back(&bucket, tasks))
    }

    /// Calls Redis; without an answer this process enforces its share.
    async fn call(
        &self,
        bucket: &TenantBucket,
        request: &LeaseRequest,
        calls: &Counter,
    ) -> Option<Grant> {
        let redis = self.redis.as_ref()?;
        calls.inc();
        match redis.lease(bucket.tenant, request).await {
            Ok(grant) => Some(grant),
            Err(failure) => {
                match failure {
                    Failure::NotYet => bucket.lease().not_applied(request),
                    Failure::Refused(_) | Failure::Late => bucket.lease().not_answered(request),
                }
                self.failed(&failure);
                None
            }
        }
    }

    /// Reports what is in `request`, which wants nothing.
    pub(super) async fn report(
        &self,
        bucket: &TenantBucket,
        request: &LeaseRequest,
        calls: &Counter,
    ) {
        if let Some(grant) = self.call(bucket, request, calls).await {
            bucket.lease().granted((request, &grant), 0, &Moment::now());
        }
    }

    /// Goes on without Redis until a periodic call succeeds; the log says why.
    pub(super) fn failed(&self, failure: &Failure) {
        self.metrics.local.set(1.0);
        if self.switch.mode() == Mode::Shared {
            self.retry.notify_one();
        }
        if matches!(failure, Failure::NotYet) {
            // Redis is well: nothing to report.
            self.switch.must_wait(monotonic());
            return;
        }
        let cause = failure.cause();
        self.metrics.failures.inc();
        self.metrics.away_by(Some(cause));
        if self.switch.failed(monotonic()) {
            let reason = failure.explained();
            tracing::warn!(
                cause = cause.as_str(),
                reason,
                "Rate limits are held without Redis, by this process's share: {reason}"
            );
        }
    }

    /// Returns tasks that were admitted for nothing: those of a repeated request, or not stored.
    pub(crate) fn give_back(&self, bucket: &TenantBucket, tasks: u64) {
        if tasks > 0 {
            bucket.lease().give_back(tasks, self.switch.mode(), &Moment::now());
        }
    }

    /// Refuses a whole request.
    pub(crate) fn refuse(&self, shortage: Shortage, caller: &Caller) -> Problem {
        let rates = Rates::from(caller.limits());
        let lifted_by = self.plans.that_lifts(shortage.limit, rates);
        refusal::whole(shortage, rates, lifted_by.as_ref())
    }

    /// Adds the headers that say what the tenant may still do.
    pub(crate) fn add_headers(&self, bucket: &TenantBucket, headers: &mut HeaderMap) {
        let (mode, now) = (self.switch.mode(), Moment::now());
        let (rates, uses) = {
            let mut lease = bucket.lease();
            (lease.rates(), lease.uses(mode, &now))
        };
        headers.insert(RATE_LIMIT_POLICY.clone(), policy(rates, mode.is_local()));
        headers.insert(RATE_LIMIT.clone(), rate_limit(uses));
    }

    /// Whether the tenant used `key` before: such a request costs nothing, and is answered at an exhausted limit or quota, too. Not
    /// more often than `LOOK_UPS`, or it would be a way round the limit.
    ///
    /// # Errors
    /// What the database said.
    pub(crate) async fn is_repeated(
        &self,
        bucket: &TenantBucket,
        key: Option<&IdempotencyKey>,
    ) -> Result<bool, StoreError> {
        match key.filter(|_| self.look_ups.check(&bucket.tenant).is_ok()) {
            Some(key) => {
                store::idempotency::stands(&self.db, &TenantScope::of_role(bucket.tenant), key)
                    .await
            }
            None => Ok(false),
        }
    }

    /// The use of each rate of the plan, by all processes; without Redis as this process knows.
    pub(crate) async fn rate_uses(
        self: &Arc<Self>,
        bucket: &Arc<TenantBucket>,
    ) -> (RateUse, Option<RateUse>) {
        self.restore(bucket).await;
        if self.switch.mode() == Mode::Shared {
            let request = bucket.lease().request(0, &Moment::now());
            let (limiter, of) = (Arc::clone(self), Arc::clone(bucket));
            // Beside the request, as a lease is. One that failed has been logged.
            let look = async move { limiter.report(&of, &request, &limiter.reads).await };
            let _ = self.tasks.spawn("api.limit_look", look).join().await;
        }
        bucket.lease().uses(self.switch.mode(), &Moment::now())
    }

    /// Reads the checkpoint of the hour, once for a bucket. Where the database does not answer the next submission reads it.
    async fn restore(&self, bucket: &TenantBucket) {
        if bucket.restored.initialized() || bucket.lease().rates().per_hour == 0 {
            return;
        }
        let read = bucket.restored.get_or_try_init(|| async {
            let hour = Moment::now().hour();
            let used =
                store::rate::read(&self.db, &TenantScope::of_role(bucket.tenant), hour).await?;
            bucket.lease().restore(hour, used);
            Ok::<_, StoreError>(())
        });
        if let Err(error) = read.await {
            tracing::debug!(error = %ErrorChain(&error), "An hour's use cannot be read: {error}");
        }
    }
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter").field("switch", &self.switch).finish_non_exhaustive()
    }
}
