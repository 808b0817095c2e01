//! From the `Authorization` header to the tenant that asks.
//!
//! Called once for every request to a tenant's route, before its body is read. The checksum is judged
//! before anything is looked up; hashes are compared in constant time. An unknown, a revoked and an
//! expired key get the same answer.

use super::bearer::{bearer, checked_later, rejected, unauthenticated, wrong_kind};
use super::cache::{Answer, Cache, KnownKey};
use super::key::{KeyHasher, KeyId, KeyKind, PresentedKey};
use super::used::UsedKeys;
use crate::problem::{Code, Problem};
use crate::submit::REPEATS;
use actix_web::http::header::HeaderMap;
use domain::access::{Permission, PermissionSet, Scope};
use domain::id::TenantId;
use domain::plan::PlanLimits;
use domain::tenant::TenantState;
use runtime::clock::monotonic;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SubmitDb;
use store::key::KeyRecord;
use store::{StoreError, TenantScope};
use subtle::ConstantTimeEq;

/// An authenticated request's authority: handlers that act for a tenant take it.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    tenant: TenantId,
    key: KeyId,
    permissions: PermissionSet,
    standing: Standing,
}

/// How the caller's tenant stands, and what it may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub state: TenantState,
    pub limits: PlanLimits,
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

    /// The public part of the key.
    #[must_use]
    pub const fn key(&self) -> KeyId {
        self.key
    }

    /// What the tenant's plan allows.
    #[must_use]
    pub const fn limits(&self) -> &PlanLimits {
        &self.standing.limits
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
        let detail = "Your account is suspended: nothing new is taken or started, and what it has can still be read and \
                      cancelled. Please write to whoever runs this service.";
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
        let scope = Scope::ALL.into_iter().find(|s| s.permissions().contains(permission));
        let scope = scope.map(|scope| format!(" A key has it with the scope `{scope}`."));
        Err(Problem::new(
            Code::ScopeMissing,
            format!("This needs the permission `{permission}`.{}", scope.unwrap_or_default()),
        ))
    }
}

/// Checks keys against what is stored.
#[derive(Debug)]
pub struct Authenticator {
    environment: String,
    hasher: KeyHasher,
    cache: Cache<KnownKey>,
    db: SubmitDb,
    used: Arc<UsedKeys>,
}

impl Authenticator {
    /// For the installation named `environment`; answers are kept for `ttl`.
    pub(crate) fn new(environment: String, hasher: KeyHasher, ttl: Duration, db: SubmitDb) -> Self {
        Self { environment, hasher, cache: Cache::new(ttl), db, used: Arc::default() }
    }

    /// The keys whose use is still to be written down.
    pub(crate) fn used(&self) -> Arc<UsedKeys> {
        Arc::clone(&self.used)
    }

    /// Who sends a request with these headers.
    ///
    /// # Errors
    /// `unauthenticated` without a good key; a retryable problem when the database gives no answer.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let presented = PresentedKey::parse(bearer(headers)?, &self.environment)
            .map_err(|error| unauthenticated(format!("The API key {error}.")))?;
        if presented.kind() != KeyKind::Tenant {
            return Err(wrong_kind("This is a tenant's route; the key is an operator's."));
        }
        let id = presented.id();
        let (slot, answer) = self.cache.get(id, || self.look_up(id)).await;
        match answer {
            Answer::Known(key) if self.opens(&presented, &key) => {
                if slot.first_use() {
                    self.used.mark(id);
                }
                let permissions = key.scopes.permissions();
                Ok(Caller { tenant: key.tenant, key: id, permissions, standing: key.standing })
            }
            Answer::Known(_) | Answer::Unknown => Err(rejected()),
            Answer::Failed(code) => Err(checked_later(code)),
        }
    }

    /// A connection that turns out to be broken is no reason to turn a client away while there are others.
    async fn look_up(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        let mut found = store::key::find(&self.db, id.as_str()).await;
        for _ in 0..REPEATS {
            match &found {
                Err(error) if error.outcome_unknown() => {
                    found = store::key::find(&self.db, id.as_str()).await
                }
                Ok(_) | Err(_) => break,
            }
        }
        found
    }

    fn opens(&self, presented: &PresentedKey<'_>, known: &KnownKey) -> bool {
        let same: bool = self.hasher.hash(presented).ct_eq(&known.hash).into();
        same && known.usable && known.expires.is_none_or(|at| monotonic() < at)
    }
}
