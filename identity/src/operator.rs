//! From the text of a credential to the operator that asks.
//!
//! Called once for every request to an operator's route, before its body is read. Operators have keys, a cache, a table and a
//! database role of their own: nothing that opens a tenant's route opens one of theirs, and the other way round.

use crate::cache::{Cache, CachedCredential, Lookup, local};
use crate::error::IdentityError;
use crate::key::{GeneratedKey, KeyHasher, KeyId, KeyKind, PresentedKey};
use crate::peer::Peer;
use crate::token::is_token;
use crate::used::UsedKeys;
use domain::access::OperatorScope;
use domain::id::TenantId;
use domain::time::Timestamp;
use runtime::clock::{Instant, monotonic};
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::connect::AdminDb;
use store::operator_key::OperatorKeyRecord;
use subtle::ConstantTimeEq;

/// An authenticated operator's authority: handlers of operator routes take it.
#[derive(Debug, Clone)]
pub struct Operator {
    key: KeyId,
    known: Arc<KnownOperator>,
}

/// A key that exists.
#[derive(Debug)]
struct KnownOperator {
    name: String,
    hash: [u8; 32],
    scopes: Vec<OperatorScope>,
    usable: bool,
    expires_at: Option<Timestamp>,
    /// The same on this machine's clock.
    expires: Option<Instant>,
}

impl Operator {
    /// The public part of the key.
    #[must_use]
    pub const fn key(&self) -> KeyId {
        self.key
    }

    /// What the key is called: whom the audit names.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.known.name
    }

    /// Its scopes.
    #[must_use]
    pub fn scopes(&self) -> &[OperatorScope] {
        &self.known.scopes
    }

    /// When the key ends by itself.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.known.expires_at
    }

    /// The rows of a tenant, which operators may ask for whoever it is.
    #[must_use]
    pub const fn scope_of(&self, tenant: TenantId) -> TenantScope {
        TenantScope::authenticated(tenant)
    }

    /// Refuses when the key lacks `scope`.
    ///
    /// # Errors
    /// Names it.
    pub fn require(&self, scope: OperatorScope) -> Result<(), IdentityError> {
        if self.known.scopes.contains(&scope) {
            return Ok(());
        }
        let text = format!("This needs an operator key with the scope `{scope}`.");
        Err(IdentityError::ScopeMissing(text))
    }
}

impl CachedCredential for Arc<KnownOperator> {
    type Id = KeyId;
    type Record = OperatorKeyRecord;

    fn of(key: OperatorKeyRecord, asked_at: Instant) -> Option<Self> {
        Some(Self::new(KnownOperator {
            hash: key.hash.as_slice().try_into().ok()?,
            scopes: key.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
            usable: key.revoked_at.is_none(),
            expires_at: key.expires_at,
            expires: key.expires_at.map(|at| local(at, key.now, asked_at)),
            name: key.name,
        }))
    }
}

/// Checks operators' keys against what is stored.
#[derive(Debug)]
pub struct OperatorAuthenticator {
    environment: String,
    hasher: KeyHasher,
    cache: Cache<Arc<KnownOperator>>,
    db: AdminDb,
    used: Arc<UsedKeys>,
}

impl OperatorAuthenticator {
    /// For the installation named `environment`; answers are kept for `ttl`.
    #[must_use]
    pub fn new(environment: String, hasher: KeyHasher, ttl: Duration, db: AdminDb) -> Self {
        Self { environment, hasher, cache: Cache::new(ttl), db, used: Arc::default() }
    }

    /// The keys whose use is still to be written down.
    #[must_use]
    pub fn used(&self) -> Arc<UsedKeys> {
        Arc::clone(&self.used)
    }

    /// A new operator's key of this installation.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate_key(&self) -> Result<GeneratedKey, IdentityError> {
        Ok(self.hasher.generate(KeyKind::Operator, &self.environment)?)
    }

    /// Refuses an operator whose key has ended since it was looked up. Asked before what gives access that outlives the key.
    ///
    /// # Errors
    /// `Unauthenticated`; what the database said.
    pub async fn require_live(&self, operator: &Operator) -> Result<(), IdentityError> {
        let found = store::operator_key::find(&self.db, operator.key.as_str()).await?;
        if found.is_some_and(|key| key.is_live()) { Ok(()) } else { Err(IdentityError::rejected()) }
    }

    /// Who sends a request with this credential, from `peer` where that is known.
    ///
    /// # Errors
    /// `Unauthenticated` without a good key; `WrongKind` with a tenant's; `Unchecked` when the database gives no answer.
    pub async fn authenticate(
        &self,
        credential: &str,
        peer: Option<Peer>,
    ) -> Result<Operator, IdentityError> {
        if is_token(credential) {
            return Err(IdentityError::WrongKind(
                "This route is for operators, but the token belongs to a user.",
            ));
        }
        let presented = PresentedKey::parse(credential, &self.environment)
            .map_err(|error| IdentityError::Unauthenticated(format!("The key {error}.").into()))?;
        if presented.kind() != KeyKind::Operator {
            return Err(IdentityError::WrongKind(
                "This route is for operators, but the key belongs to a tenant.",
            ));
        }
        let id = presented.id();
        let find = || store::operator_key::find(&self.db, id.as_str());
        let (slot, answer) = self.cache.get((id, peer), find).await;
        match answer {
            Lookup::Found(known) if self.opens(&presented, &known) => {
                if slot.first_use() {
                    self.used.mark(id);
                }
                Ok(Operator { key: id, known })
            }
            Lookup::Found(_) | Lookup::Unknown => Err(IdentityError::rejected()),
            Lookup::Failed(error) => Err(IdentityError::Unchecked(error)),
        }
    }

    fn opens(&self, presented: &PresentedKey<'_>, known: &KnownOperator) -> bool {
        let same: bool = self.hasher.hash(presented).ct_eq(&known.hash).into();
        same && known.usable && known.expires.is_none_or(|at| monotonic() < at)
    }
}
