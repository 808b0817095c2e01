//! Admits requests of peers and submissions of tenants. One a process, shared by all requests.
//!
//! Called by `dispatch` for each request, and by the handlers that submit. The rule: what a tenant is admitted over all processes stays
//! within its plan's rates, and nobody is refused, or waits longer than for one answer of Redis, because Redis is away.

use super::admission::{Admission, Limit, Rates, Shortage};
use super::counting::{Counting, Way};
use super::figures::Figures;
use super::headers::{RATE_LIMIT, RATE_LIMIT_POLICY, rate_limit};
use super::meter::Meter;
use super::meters::Meters;
use super::moment::Moment;
use super::peers::Peers;
use super::plans::Plans;
use super::refusal;
use super::shared::{Answer, Ask, Away, NotRedis, Redis};
use super::state::Take;
use super::trouble::Trouble;
use crate::auth::Caller;
use crate::problem::Problem;
use crate::request::Peer;
use actix_web::http::header::HeaderMap;
use runtime::clock::{Instant, monotonic};
use runtime::config::Config;
use runtime::error_chain::ErrorChain;
use runtime::metrics::Counter;
use std::sync::{Arc, Mutex, PoisonError};
use store::TenantScope;
use store::connect::SubmitDb;
use tokio::sync::Notify;

/// Requests a second, and at once, from one peer to sign in or up: a password is compared in some 20 ms of a core.
const SIGN_INS: (u32, u32) = (20, 200);
/// Leases for one submission: after these it takes what there is.
const LEASES: usize = 4;

/// The limiter.
pub(crate) struct Limiter {
    pub(super) peers: Peers,
    pub(super) sign_ins: Peers,
    pub(super) meters: Meters,
    pub(super) counting: Counting,
    pub(super) redis: Option<Redis>,
    trouble: Mutex<Trouble>,
    pub(super) plans: Plans,
    pub(super) db: SubmitDb,
    pub(super) figures: Figures,
    /// Wakes the probe.
    pub(super) probe_now: Arc<Notify>,
    lease_calls: Counter,
    origin: Instant,
}

impl Limiter {
    /// # Errors
    /// When `redis.url` is not usable. A Redis that is away is no error.
    pub(crate) fn new(config: &Config, db: SubmitDb) -> Result<Self, NotRedis> {
        let redis = config.redis.is_used().then(|| Redis::open(&config.redis)).transpose()?;
        let (origin, figures) = (monotonic(), Figures::new());
        let (per_second, burst) =
            (config.api.peer_requests_per_second, config.api.peer_request_burst);
        figures.local.set(f64::from(u8::from(redis.is_some())));
        Ok(Self {
            peers: Peers::new(Limit::Peer, per_second, burst),
            sign_ins: Peers::new(Limit::PeerSignIns, SIGN_INS.0, SIGN_INS.1),
            meters: Meters::new(),
            counting: Counting::new(redis.is_none(), origin),
            redis,
            trouble: Mutex::default(),
            plans: Plans::default(),
            db,
            lease_calls: figures.calls("lease"),
            figures,
            probe_now: Arc::default(),
            origin,
        })
    }

    pub(super) fn now(&self) -> Moment {
        Moment::now(self.origin)
    }

    /// One request of a peer; one without is not counted.
    ///
    /// # Errors
    /// `rate_limited` when that has sent too many.
    pub(crate) fn pass(&self, peer: Option<Peer>) -> Result<(), Problem> {
        self.pass_one_of(&self.peers, peer)
    }

    /// A peer's request to sign in or up, or with an invitation.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub(crate) fn pass_sign_in(&self, peer: Option<Peer>) -> Result<(), Problem> {
        self.pass_one_of(&self.sign_ins, peer)
    }

    fn pass_one_of(&self, peers: &Peers, peer: Option<Peer>) -> Result<(), Problem> {
        let Some(peer) = peer else { return Ok(()) };
        peers.pass(peer).map_err(|shortage| {
            self.figures.limited(shortage.limit, 1);
            refusal::whole(shortage, Rates { per_second: 1, burst: 1, per_hour: 0 }, None)
        })
    }

    /// The meter of the caller's tenant, with its plan as of now.
    pub(crate) fn meter(&self, caller: &Caller) -> Arc<Meter> {
        let rates = Rates::from(caller.limits());
        let meter = self.meters.of(caller.tenant(), rates, self.counting.now(), || self.now());
        meter.set_rates(rates, || self.now());
        meter
    }

    /// Admits up to `tasks`, the first ones; 0 of 0 costs nothing.
    pub(crate) async fn admit(&self, meter: &Meter, tasks: u64) -> Admission {
        if tasks == 0 {
            return Admission { admitted: 0, shortage: None };
        }
        let mut now = self.now();
        meter.wants(tasks, &now);
        if meter.is_to_restore() {
            self.restore(meter).await;
            now = self.now();
        }
        let admission = match meter.take(tasks, self.counting.now(), &now) {
            Take::Done(admission) => admission,
            Take::Lease => self.admit_by_lease(meter, tasks).await,
        };
        self.figures.admitted.inc_by(admission.admitted);
        if let Some(shortage) = admission.shortage {
            self.figures.limited(shortage.limit, tasks - admission.admitted);
        }
        admission
    }

    async fn admit_by_lease(&self, meter: &Meter, tasks: u64) -> Admission {
        let (_turn, _waiting) = meter.turn(tasks).await;
        // Whoever had the turn before may have leased for this one, too; and whoever needs no lease may take from it.
        for _ in 0..LEASES {
            match meter.take(tasks, self.counting.now(), &self.now()) {
                Take::Done(admission) => return admission,
                Take::Lease => {
                    let ask = meter.ask(&self.now());
                    self.lease(meter, &ask, &self.lease_calls).await;
                }
            }
        }
        match meter.take(tasks, self.counting.now(), &self.now()) {
            Take::Done(admission) => admission,
            Take::Lease => {
                let wait = std::time::Duration::from_millis(100);
                let shortage = Some(Shortage { limit: Limit::PerSecond, wait });
                Admission { admitted: 0, shortage }
            }
        }
    }

    /// Asks Redis, and tells the meter; where it does not answer this process goes on without it.
    pub(super) async fn lease(&self, meter: &Meter, ask: &Ask, calls: &Counter) {
        let Some(redis) = &self.redis else { return };
        calls.inc();
        match redis.lease(meter.tenant(), ask).await {
            Ok(Answer::Leased(lease)) => meter.leased(ask, &lease, &self.now()),
            Ok(Answer::NotYet) => {
                meter.unanswered(ask);
                self.wait_for_counts();
            }
            Err(away) => {
                meter.unanswered(ask);
                self.leave(&away);
            }
        }
    }

    /// Goes on without Redis, until the probe says otherwise; the log says why.
    pub(super) fn leave(&self, away: &Away) {
        self.figures.failures.inc();
        let (has_served, cause) = (self.go_alone(), away.cause());
        self.figures.away_by(Some(cause));
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.failed(cause, has_served, monotonic()) {
            let reason = away.explained();
            tracing::warn!(
                cause = cause.as_str(),
                reason,
                "Rate limits are held without Redis, by this process's share: {reason}"
            );
        }
    }

    /// Goes on without Redis until its counts begin anew, all at one moment.
    pub(super) fn wait_for_counts(&self) {
        self.redis_answers();
        if self.go_alone() {
            tracing::warn!(
                "Rate limits are held without Redis, by this process's share: its counts begin anew"
            );
        }
    }

    /// Redis does what it is asked to.
    pub(super) fn redis_answers(&self) {
        self.figures.away_by(None);
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_over();
    }

    /// True where it is news.
    fn go_alone(&self) -> bool {
        let is_news = self.counting.leave(monotonic());
        if is_news {
            self.figures.local.set(1.0);
            self.probe_now.notify_one();
        }
        is_news
    }

    /// Takes back tasks that were admitted for nothing: a repeated request, or one that was not stored.
    pub(crate) fn give_back(&self, meter: &Meter, tasks: u64) {
        if tasks > 0 {
            meter.give_back(tasks, self.counting.now(), &self.now());
        }
    }

    /// Refuses a whole request.
    pub(crate) fn refuse(&self, shortage: Shortage, caller: &Caller) -> Problem {
        let rates = Rates::from(caller.limits());
        let lifted_by = self.plans.that_lifts(shortage.limit, rates);
        refusal::whole(shortage, rates, lifted_by.as_ref())
    }

    /// Says what the tenant may still do.
    pub(crate) fn tell(&self, meter: &Meter, headers: &mut HeaderMap) {
        let counted = self.counting.now();
        let is_local = match counted.way {
            Way::Shared => false,
            Way::Alone { replicas } => replicas > 1,
            Way::Local { .. } => true,
        };
        let left = meter.left(counted, &self.now());
        headers.insert(RATE_LIMIT_POLICY.clone(), meter.policy(left.rates, is_local).value);
        headers.insert(RATE_LIMIT.clone(), rate_limit(&left));
    }

    /// Reads what was written down of the hour, once in a meter's life. Where the database does not answer the next submission asks.
    pub(super) async fn restore(&self, meter: &Meter) {
        let (_turn, _waiting) = meter.turn(0).await;
        if !meter.is_to_restore() {
            return;
        }
        let hour = self.now().hour();
        match store::rate::read(&self.db, &TenantScope::new(meter.tenant()), hour).await {
            Ok(used) => meter.restore(hour, used),
            Err(error) => {
                tracing::debug!(error = %ErrorChain(&error), "An hour's use cannot be read: {error}");
            }
        }
    }
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter").field("counting", &self.counting).finish_non_exhaustive()
    }
}
