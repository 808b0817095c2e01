//! From the text of a credential to the tenant that asks.
//!
//! Called once for every request to a tenant's route, before its body is read. The checksum is judged
//! before anything is looked up; hashes are compared in constant time. An unknown, a revoked and an
//! expired key get the same answer.

use crate::cache::{Cache, KnownKey, Lookup};
use crate::caller::{Actor, Caller};
use crate::error::IdentityError;
use crate::key::{GeneratedKey, KeyHasher, KeyId, KeyKind, PresentedKey};
use crate::peer::Peer;
use crate::sign_in::{self, SignIns};
use crate::token::{Tokens, is_token};
use crate::used::UsedKeys;
use domain::access::PermissionSet;
use runtime::clock::monotonic;
use runtime::tasks::TaskGroup;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::{REPEATS, SubmitDb};
use store::key::KeyRecord;
use subtle::ConstantTimeEq;

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
    #[must_use]
    pub fn new(
        environment: String,
        hasher: KeyHasher,
        ttl: Duration,
        tokens: Option<Arc<Tokens>>,
        (db, tasks): (SubmitDb, TaskGroup),
    ) -> Self {
        let sign_ins = tokens.map(|tokens| SignIns::new(tokens, ttl));
        let (cache, used) = (Arc::new(Cache::new(ttl)), Arc::default());
        Self { environment, hasher, cache, sign_ins, db, used, tasks }
    }

    /// The keys whose use is still to be written down.
    #[must_use]
    pub fn used(&self) -> Arc<UsedKeys> {
        Arc::clone(&self.used)
    }

    /// A new key of this installation.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate_key(&self) -> Result<GeneratedKey, IdentityError> {
        Ok(self.hasher.generate(KeyKind::Tenant, &self.environment)?)
    }

    /// Who sends a request with this credential, from `peer` where that is known.
    ///
    /// # Errors
    /// `Unauthenticated` without a good key or token; `WrongKind` with an operator's; `Unchecked` when the database gives no
    /// answer.
    pub async fn authenticate(
        &self,
        credential: &str,
        peer: Option<Peer>,
    ) -> Result<Caller, IdentityError> {
        if is_token(credential) {
            return self.user(credential, peer).await;
        }
        let presented = PresentedKey::parse(credential, &self.environment).map_err(|error| {
            IdentityError::Unauthenticated(format!("The API key {error}.").into())
        })?;
        if presented.kind() != KeyKind::Tenant {
            return Err(IdentityError::WrongKind(
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
            Lookup::Found(_) | Lookup::Unknown => Err(IdentityError::rejected()),
            Lookup::Failed(error) => Err(IdentityError::Unchecked(error)),
        }
    }

    async fn user(&self, token: &str, peer: Option<Peer>) -> Result<Caller, IdentityError> {
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
