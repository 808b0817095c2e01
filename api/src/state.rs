//! What all requests of a process share.

use crate::cookie_key::CookieKey;
use crate::cursor::Sealer;
use crate::limit::Limiter;
use crate::live::{Hub, Slots};
use crate::quota::{Backlog, Refusals, TaskSize};
use crate::request::{BodyRule, Memory, RequestIds};
use crate::share::FairShare;
use crate::start_error::StartError;
use crate::status::PublicStatus;
use crate::submit::{Intake, Pools};
use actix_web::web::Bytes;
use bus::Bus;
use domain::plan::PlanLimits;
use hmac::Hmac;
use identity::key::KeyHasher;
use identity::token::Tokens;
use identity::{Authenticator, OperatorAuthenticator, Sessions};
use runtime::config::{Config, IpNet, LimitsConfig};
use runtime::health::Health;
use runtime::tasks::TaskGroup;
use runtime::turns::TurnLimits;
use sha2::Sha256;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use store::connect::{AdminDb, ApiDb, CountDb, SubmitDb};
use tokio::sync::watch;

/// A document that is built at the first request; an error is a bug.
pub(crate) type Document = LazyLock<
    Result<Bytes, serde_json::Error>,
    Box<dyn FnOnce() -> Result<Bytes, serde_json::Error> + Send>,
>;

/// Largest body of a request that has nothing to say.
const EMPTY_BODY: usize = 1024;
/// Largest body of a request about anything but tasks.
const SMALL_BODY: usize = 16 * 1024;
/// Largest body with a value of 64 KiB, which may be written with white space and escapes.
const PAYLOAD_BODY: usize = 96 * 1024;

/// Shared by all requests; made once.
#[derive(Debug)]
pub struct State {
    pub(crate) authenticator: Authenticator,
    pub(crate) operators: OperatorAuthenticator,
    /// How much peers and tenants may send.
    pub(crate) limiter: Arc<Limiter>,
    /// For users who sign in.
    pub(crate) sessions: Sessions,
    /// Whose word on where a request comes from is believed.
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) intake: Intake,
    pub(crate) pools: Pools,
    pub(crate) backlog: Backlog,
    pub(crate) refusals: Refusals,
    pub(crate) sealer: Sealer,
    pub(crate) api: ApiDb,
    pub(crate) submit: SubmitDb,
    /// For the operators' routes.
    pub(crate) admin: AdminDb,
    pub(crate) bus: BusRef,
    pub(crate) health: Health,
    pub(crate) limits: LimitsConfig,
    /// Who sends invoices.
    pub(crate) seller: String,
    /// What names this installation in events.
    pub(crate) source: String,
    /// The document of the API, as it is sent; built at the first request.
    pub(crate) openapi: Document,
    pub(crate) ids: RequestIds,
    /// What keeps processors busy: batches read or judged, due times found. Two at once for each thread that answers requests: they must
    /// leave processors to all other requests.
    pub(crate) computing: FairShare,
    /// Batches stored, and schedules triggered, at once: they must leave connections to single submits.
    pub(crate) storing: FairShare,
    pub(crate) max_task_bytes: usize,
    pub(crate) max_batch_bytes: usize,
    pub(crate) max_batch_tasks: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) cancel_grace: Duration,
    pub(crate) request_mac: RequestMac,
    /// Encrypts what the dashboard has browsers keep.
    pub(crate) cookie_key: CookieKey,
    /// What bodies and answers hold.
    pub(crate) memory: Memory,
    /// How many live streams there may be.
    pub(crate) slots: Slots,
    /// Who tells them that there is something new.
    pub(crate) hub: Hub,
    /// What everybody may read of it.
    pub(crate) status: PublicStatus,
    pub(crate) stream_keep_alive: Duration,
    closing: watch::Sender<bool>,
}

/// The bus, which has nothing to show of itself.
#[derive(Clone)]
pub(crate) struct BusRef(Bus);

impl std::fmt::Debug for BusRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bus")
    }
}

impl std::ops::Deref for BusRef {
    type Target = Bus;

    fn deref(&self) -> &Bus {
        &self.0
    }
}

/// Tells two requests from each other without keeping them; shows nothing of its key.
#[derive(Clone)]
pub(crate) struct RequestMac(Hmac<Sha256>);

impl std::fmt::Debug for RequestMac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestMac(..)")
    }
}

impl RequestMac {
    /// A hash to be fed.
    pub(crate) fn begin(&self) -> Hmac<Sha256> {
        self.0.clone()
    }
}

/// What [`State`] is made of besides the settings.
pub(crate) struct Parts {
    pub api: ApiDb,
    pub submit: SubmitDb,
    pub admin: AdminDb,
    pub sign_in: SubmitDb,
    pub counts: CountDb,
    pub bus: Bus,
    pub health: Health,
    pub tasks: TaskGroup,
    pub intake: Intake,
    pub openapi: Document,
}

impl State {
    pub(crate) fn new(config: &Config, parts: Parts) -> Result<Self, StartError> {
        let hasher = KeyHasher::new(config.auth.key_hash_secret()?)?;
        let sealer = Sealer::new(&hasher);
        let (environment, ttl) = (config.auth.environment.clone(), config.api.key_cache_ttl);
        let storing = (config.database.submit_connections as usize / 2).max(1);
        let tokens = match config.auth.jwt_keys()? {
            Some(keys) => {
                let life = config.auth.access_token_life;
                Some(Arc::new(Tokens::new(keys, &environment, life)?))
            }
            None => None,
        };
        let status = PublicStatus::new(config.api.public_status, parts.admin.clone());
        Ok(Self {
            sessions: Sessions::new(&config.auth, &hasher, tokens.clone(), parts.sign_in)?,
            request_mac: RequestMac(hasher.derived_mac(b"request/v1")),
            cookie_key: CookieKey::of(&hasher),
            operators: OperatorAuthenticator::new(
                environment.clone(),
                hasher.clone(),
                ttl,
                parts.admin.clone(),
            ),
            authenticator: Authenticator::new(
                environment,
                hasher,
                ttl,
                tokens,
                (parts.submit.clone(), parts.tasks.clone()),
            ),
            limiter: Arc::new(Limiter::new(config, (parts.submit.clone(), parts.tasks.clone()))?),
            trusted_proxies: config.api.trusted_proxies.clone(),
            intake: parts.intake,
            pools: Pools::new(parts.submit.clone(), parts.tasks.clone()),
            backlog: Backlog::new(parts.counts, parts.tasks),
            refusals: Refusals::new(parts.submit.clone()),
            sealer,
            api: parts.api,
            submit: parts.submit,
            admin: parts.admin,
            bus: BusRef(parts.bus),
            health: parts.health,
            limits: config.limits.clone(),
            seller: config.billing.seller.clone(),
            source: format!("urn:berth:{}", config.auth.environment),
            openapi: parts.openapi,
            ids: RequestIds::new(),
            computing: FairShare::new(2 * config.api.http_workers(), config.api.computing_turns()),
            storing: FairShare::new(
                storing,
                TurnLimits { at_once: storing, ..config.api.computing_turns() },
            ),
            max_task_bytes: config.api.max_task_bytes,
            max_batch_bytes: config.api.max_batch_bytes,
            max_batch_tasks: config.api.max_batch_tasks,
            request_timeout: config.api.request_timeout,
            cancel_grace: config.resource_manager.hard_end_grace(),
            memory: Memory::new(
                config.api.max_request_memory,
                config.api.max_tenant_request_memory,
            ),
            slots: Slots::new(config.api.max_streams, config.api.max_tenant_streams),
            hub: Hub::default(),
            status,
            stream_keep_alive: config.api.stream_keep_alive,
            closing: watch::Sender::new(false),
        })
    }

    /// From now on each answer asks its client to connect anew, and live streams end.
    pub(crate) fn close_connections(&self) {
        self.closing.send_replace(true);
    }

    pub(crate) fn closes_connections(&self) -> bool {
        *self.closing.borrow()
    }

    /// Hears when connections are closed.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Largest body of one task: the plan's limit where it is less than the installation's.
    pub(crate) fn task_limit(&self, limits: Option<&PlanLimits>) -> TaskSize {
        TaskSize::of(self.max_task_bytes, limits)
    }

    /// Largest body under this rule, bytes.
    pub(crate) const fn body_limit(&self, rule: BodyRule) -> usize {
        match rule {
            BodyRule::None => 0,
            BodyRule::Empty => EMPTY_BODY,
            BodyRule::Small | BodyRule::Optional => SMALL_BODY,
            BodyRule::Payload => PAYLOAD_BODY,
            BodyRule::Task | BodyRule::Change => self.max_task_bytes,
            BodyRule::Batch | BodyRule::Workflow => self.max_batch_bytes,
        }
    }
}
