//! From the `Authorization` header to the tenant that asks.
//!
//! Called once for every request to a tenant's route, before its body is read. The checksum is judged
//! before anything is looked up; hashes are compared in constant time. An unknown, a revoked and an
//! expired key get the same answer.

use super::cache::{Answer, KeyCache, KnownKey};
use super::key::{KeyHasher, KeyId, PresentedKey};
use super::scope::{Scope, ScopeSet};
use super::used::UsedKeys;
use crate::problem::{Code, Problem};
use crate::submit::REPEATS;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
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
    scopes: ScopeSet,
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

    /// Refuses when the key lacks `scope`.
    ///
    /// # Errors
    /// `scope_missing`, naming it.
    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.scopes.contains(scope) {
            return Ok(());
        }
        Err(Problem::new(Code::ScopeMissing, format!("This needs a key with the scope `{scope}`.")))
    }
}

/// Checks keys against what is stored.
#[derive(Debug)]
pub struct Authenticator {
    environment: String,
    hasher: KeyHasher,
    cache: KeyCache,
    db: SubmitDb,
    used: Arc<UsedKeys>,
}

impl Authenticator {
    /// For the installation named `environment`; answers are kept for `ttl`.
    pub(crate) fn new(environment: String, hasher: KeyHasher, ttl: Duration, db: SubmitDb) -> Self {
        Self { environment, hasher, cache: KeyCache::new(ttl), db, used: Arc::default() }
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
        let id = presented.id();
        let (slot, answer) = self.cache.get(id, || self.look_up(id)).await;
        match answer {
            Answer::Known(key) if self.opens(&presented, &key) => {
                if slot.first_use() {
                    self.used.mark(id);
                }
                Ok(Caller { tenant: key.tenant, key: id, scopes: key.scopes, standing: key.standing })
            }
            Answer::Known(_) | Answer::Unknown => {
                Err(unauthenticated("The API key is unknown, expired or revoked.".to_owned()))
            }
            Answer::Failed(code) => {
                Err(Problem::new(code, "The API key cannot be checked at the moment."))
            }
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

/// The token of the one `Authorization: Bearer` header.
fn bearer(headers: &HeaderMap) -> Result<&str, Problem> {
    let mut all = headers.get_all(AUTHORIZATION);
    let (Some(header), None) = (all.next(), all.next()) else {
        return Err(unauthenticated(
            "Send one header `Authorization: Bearer <API key>`.".to_owned(),
        ));
    };
    header
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim_matches(' '))
        .ok_or_else(|| {
            unauthenticated("The Authorization header must be `Bearer <API key>`.".to_owned())
        })
}

fn unauthenticated(detail: String) -> Problem {
    Problem::new(Code::Unauthenticated, detail)
}
