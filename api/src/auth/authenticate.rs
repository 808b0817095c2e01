//! From the `Authorization` header to the tenant that asks.
//!
//! Called once for every request to a tenant's route, before its body is read. The checksum is judged
//! before anything is looked up; hashes are compared in constant time. An unknown, a revoked and an
//! expired key get the same answer.

use super::bearer::{bearer, checked_later, rejected, unauthenticated, wrong_kind};
use super::cache::{Cache, KnownKey, Lookup};
use super::key::{GeneratedKey, KeyHasher, KeyId, KeyKind, PresentedKey};
use super::sign_in::{self, SignIns};
use super::standing::Standing;
use super::token::{Tokens, is_token};
use super::used::UsedKeys;
use crate::problem::{Code, Problem};
use crate::repeats::REPEATS;
use crate::request::Peer;
use actix_web::http::header::HeaderMap;
use domain::access::{Permission, PermissionSet, Role, Scope};
use domain::id::{SignInId, TenantId, UserId};
use domain::plan::PlanLimits;
use domain::pool::PoolUser;
use domain::tenant::TenantState;
use runtime::clock::monotonic;
use runtime::tasks::TaskGroup;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use store::key::KeyRecord;
use store::{StoreError, TenantScope};
use subtle::ConstantTimeEq;

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// An API key, by its public part.
    Key(KeyId),
    /// A user, signed in.
    User(UserId, SignInId),
}

impl Actor {
    /// As the audit names it.
    #[must_use]
    pub const fn audit_actor(self) -> domain::audit::Actor {
        match self {
            Self::Key(key) => domain::audit::Actor::Key(key.public()),
            Self::User(user, sign_in) => domain::audit::Actor::User(user, Some(sign_in)),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::User(user, _) => user.fmt(f),
        }
    }
}

/// An authenticated request's authority: handlers that act for a tenant take it.
#[derive(Debug, Clone)]
pub struct Caller {
    tenant: TenantId,
    actor: Actor,
    /// Whom the credential leads back to.
    user: Option<UserId>,
    permissions: PermissionSet,
    standing: Standing,
}

impl Caller {
    /// The tenant.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// What store functions ask for.
    #[must_use]
    pub const fn scope(&self) -> TenantScope {
        TenantScope::new(self.tenant)
    }

    /// Who acts: recorded with what they do.
    #[must_use]
    pub const fn actor(&self) -> Actor {
        self.actor
    }

    /// The user, where it is one and no key.
    #[must_use]
    pub const fn user(&self) -> Option<UserId> {
        match self.actor {
            Actor::Key(_) => None,
            Actor::User(user, _) => Some(user),
        }
    }

    /// On whose behalf it makes keys: the user, or whoever the key was made for. They go when that user goes.
    #[must_use]
    pub const fn makes_keys_for(&self) -> Option<UserId> {
        self.user
    }

    /// Whose keys it may manage: `None` is everybody's.
    ///
    /// # Errors
    /// `scope_missing` when that is nobody's.
    pub fn keys_of(&self) -> Result<Option<UserId>, Problem> {
        match (self.permissions.contains(Permission::AllKeys), self.user()) {
            (true, _) => Ok(None),
            (false, Some(user)) => self.require(Permission::OwnKeys).map(|()| Some(user)),
            (false, None) => self.require(Permission::AllKeys).map(|()| None),
        }
    }

    /// What the tenant's plan allows.
    #[must_use]
    pub const fn limits(&self) -> &PlanLimits {
        &self.standing.limits
    }

    /// For which pools of the installation it may ask: as this one.
    #[must_use]
    pub const fn pool_user(&self) -> PoolUser<'_> {
        PoolUser { tenant: self.tenant, plan: &self.standing.plan }
    }

    /// How the tenant stands; a deleted one has no caller.
    #[must_use]
    pub const fn tenant_state(&self) -> TenantState {
        self.standing.state
    }

    /// Refuses new work of a tenant that is suspended.
    ///
    /// # Errors
    /// `tenant_suspended`.
    pub fn require_active(&self) -> Result<(), Problem> {
        if self.standing.state.may_run() {
            return Ok(());
        }
        let detail = "Your account is suspended: nothing new is accepted or started. Reads and cancels still work. Contact the \
                      operator of this service.";
        Err(Problem::new(Code::TenantSuspended, detail))
    }

    /// Everything it may do.
    #[must_use]
    pub const fn permissions(&self) -> PermissionSet {
        self.permissions
    }

    /// Refuses when it may not do this.
    ///
    /// # Errors
    /// `scope_missing`, naming what is needed.
    pub fn require(&self, permission: Permission) -> Result<(), Problem> {
        if self.permissions.contains(permission) {
            return Ok(());
        }
        Err(Problem::new(Code::ScopeMissing, who_may(permission)))
    }
}

/// What is needed, and who has it.
fn who_may(permission: Permission) -> String {
    let scope = Scope::ALL.into_iter().find(|s| s.permissions().contains(permission));
    let keys = scope.map_or_else(
        || "No API key has it".to_owned(),
        |scope| format!("API keys with the scope `{scope}` have it"),
    );
    let everybodys = PermissionSet::OF_EVERY_USER.with(PermissionSet::OF_EVERYBODY);
    let of_all = everybodys.contains(permission);
    let roles: Vec<&str> = Role::ALL
        .into_iter()
        .filter(|role| of_all || role.permissions().contains(permission))
        .map(Role::as_str)
        .collect();
    format!(
        "This needs the permission `{permission}`. {keys}; users need one of {}.",
        roles.join(", ")
    )
}

/// Checks keys against what is stored.
#[derive(Debug)]
pub struct Authenticator {
    environment: String,
    hasher: KeyHasher,
    cache: Arc<Cache<KnownKey>>,
    /// Where users can sign in.
    sign_ins: Option<SignIns>,
    db: SubmitDb,
    used: Arc<UsedKeys>,
    tasks: TaskGroup,
}

impl Authenticator {
    /// For the installation named `environment`; answers are kept for `ttl`.
    pub(crate) fn new(
        environment: String,
        hasher: KeyHasher,
        ttl: Duration,
        tokens: Option<Tokens>,
        (db, tasks): (SubmitDb, TaskGroup),
    ) -> Self {
        let sign_ins = tokens.map(|tokens| SignIns::new(tokens, ttl));
        let (cache, used) = (Arc::new(Cache::new(ttl)), Arc::default());
        Self { environment, hasher, cache, sign_ins, db, used, tasks }
    }

    /// What makes access tokens, where users can sign in.
    pub(crate) fn tokens(&self) -> Option<&Tokens> {
        self.sign_ins.as_ref().map(SignIns::tokens)
    }

    /// The keys whose use is still to be written down.
    pub(crate) fn used(&self) -> Arc<UsedKeys> {
        Arc::clone(&self.used)
    }

    /// A new key of this installation.
    ///
    /// # Errors
    /// `internal` when the system gives no random bytes.
    pub fn generate_key(&self) -> Result<GeneratedKey, Problem> {
        Ok(self.hasher.generate(KeyKind::Tenant, &self.environment)?)
    }

    /// Who sends a request with these headers, from `peer` where that is known.
    ///
    /// # Errors
    /// `unauthenticated` without a good key or token; `wrong_kind_of_key` with an operator's; a retryable problem
    /// when the database gives no answer.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: Option<Peer>,
    ) -> Result<Caller, Problem> {
        let text = bearer(headers)?;
        if is_token(text) {
            return self.user(text, peer).await;
        }
        let presented = PresentedKey::parse(text, &self.environment)
            .map_err(|error| unauthenticated(format!("The API key {error}.")))?;
        if presented.kind() != KeyKind::Tenant {
            return Err(wrong_kind(
                "This route is for tenants, but the key belongs to an operator.",
            ));
        }
        let id = presented.id();
        let (slot, answer) = self.cache.get((id, peer), || look_up(&self.db, id)).await;
        match answer {
            Lookup::Found(key) if self.opens(&presented, &key) => {
                if slot.first_use() {
                    self.used.mark(id);
                }
                if self.cache.is_to_be_renewed(&slot) {
                    self.renew(id);
                }
                let KnownKey { tenant, user, scopes, standing, .. } = key;
                let permissions = scopes.permissions().with(PermissionSet::OF_EVERYBODY);
                let actor = Actor::Key(id);
                Ok(Caller { tenant, actor, user, permissions, standing })
            }
            Lookup::Found(_) | Lookup::Unknown => Err(rejected()),
            Lookup::Failed(code) => Err(checked_later(code)),
        }
    }

    async fn user(&self, token: &str, peer: Option<Peer>) -> Result<Caller, Problem> {
        let sign_ins = self.sign_ins.as_ref().ok_or_else(sign_in::rejected)?;
        let (id, known) = sign_ins.authenticate(token, peer, &self.db).await?;
        let sign_in::KnownSignIn { tenant, user, permissions, standing, .. } = known;
        let permissions = permissions.with(PermissionSet::OF_EVERYBODY);
        Ok(Caller { tenant, actor: Actor::User(user, id), user: Some(user), permissions, standing })
    }

    /// Asks for a key beside the request that uses it.
    fn renew(&self, id: KeyId) {
        let (cache, db) = (Arc::clone(&self.cache), self.db.clone());
        self.tasks.spawn_detached("api.key_renewal", async move {
            cache.renew(id, || look_up(&db, id)).await;
        });
    }

    fn opens(&self, presented: &PresentedKey<'_>, known: &KnownKey) -> bool {
        let same: bool = self.hasher.hash(presented).ct_eq(&known.hash).into();
        same && known.usable && known.expires.is_none_or(|at| monotonic() < at)
    }
}

/// A connection that turns out to be broken is no reason to turn a client away while there are others.
async fn look_up(db: &SubmitDb, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
    let mut found = store::key::find(db, id.as_str()).await;
    for _ in 0..REPEATS {
        match &found {
            Err(error) if error.outcome_unknown() => {
                found = store::key::find(db, id.as_str()).await
            }
            Ok(_) | Err(_) => break,
        }
    }
    found
}
