//! What Postgres said of a key, kept for a moment (`api.key_cache_ttl`).
//!
//! Used by `authenticate` for every request. A revoked key works at most that long, counted from when
//! Postgres was asked. "No such key" is kept too, requests for one key share one look-up, and the number
//! of kept answers and of look-ups in flight is bounded: made-up keys cost an attacker more than us.

use super::authenticate::Standing;
use super::key::KeyId;
use super::scope::ScopeSet;
use crate::problem::Code;
use domain::id::TenantId;
use domain::tenant::TenantState;
use runtime::clock::{Instant, monotonic};
use runtime::error_chain::ErrorChain;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::key::KeyRecord;
use tokio::sync::{OnceCell, Semaphore};

/// Answers kept in each of the two generations.
const CAPACITY: usize = 10_000;
/// Look-ups in flight: the rest wait, so that unknown keys cannot take all connections from submits.
const LOOKUPS: usize = 2;

/// A key that exists.
#[derive(Debug, Clone)]
pub(super) struct KnownKey {
    pub tenant: TenantId,
    pub hash: [u8; 32],
    pub scopes: ScopeSet,
    /// Not revoked, and its tenant is not deleted.
    pub usable: bool,
    pub standing: Standing,
    /// When it ends by itself, on this machine's clock.
    pub expires: Option<Instant>,
}

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Known(KnownKey),
    Unknown,
    /// The database gave no answer; shared by those who waited for it, and not kept.
    Failed(Code),
}

/// One look-up: who comes while it runs waits for it.
#[derive(Debug)]
pub(super) struct Slot {
    asked_at: Instant,
    answer: OnceCell<Answer>,
    used: AtomicBool,
}

impl Slot {
    /// True for the first successful use of this answer.
    pub(super) fn first_use(&self) -> bool {
        !self.used.load(Ordering::Relaxed) && !self.used.swap(true, Ordering::Relaxed)
    }

    fn is_fresh(&self, ttl: Duration) -> bool {
        let failed = matches!(self.answer.get(), Some(Answer::Failed(_)));
        !failed && self.asked_at.elapsed() < ttl
    }
}

/// Two generations: when the young one is full it becomes the old one and the old one goes. So the
/// size is bounded without a list in order of use.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<KeyId, Arc<Slot>>,
    old: HashMap<KeyId, Arc<Slot>>,
}

#[derive(Debug)]
pub(super) struct KeyCache {
    ttl: Duration,
    generations: Mutex<Generations>,
    lookups: Semaphore,
}

impl KeyCache {
    pub(super) fn new(ttl: Duration) -> Self {
        Self { ttl, generations: Mutex::default(), lookups: Semaphore::new(LOOKUPS) }
    }

    /// The slot of this key, with its answer; `look_up` is called when none is kept.
    pub(super) async fn get<F, Fut>(&self, id: KeyId, look_up: F) -> (Arc<Slot>, Answer)
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Option<KeyRecord>, StoreError>>,
    {
        let slot = self.slot(id);
        if let Some(answer) = slot.answer.get() {
            let answer = answer.clone();
            return (slot, answer);
        }
        let asked = slot.answer.get_or_init(|| async {
            let Ok(_permit) = self.lookups.acquire().await else {
                return Answer::Failed(Code::Unavailable);
            };
            answer_of(slot.asked_at, look_up().await)
        });
        let answer = asked.await.clone();
        (slot, answer)
    }

    fn slot(&self, id: KeyId) -> Arc<Slot> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = generations.young.get(&id).or_else(|| generations.old.get(&id));
        if let Some(slot) = kept.filter(|slot| slot.is_fresh(self.ttl)) {
            return Arc::clone(slot);
        }
        if generations.young.len() >= CAPACITY {
            generations.old = std::mem::take(&mut generations.young);
        }
        let fresh =
            Slot { asked_at: monotonic(), answer: OnceCell::new(), used: AtomicBool::new(false) };
        let fresh = Arc::new(fresh);
        generations.young.insert(id, Arc::clone(&fresh));
        fresh
    }
}

fn answer_of(asked_at: Instant, found: Result<Option<KeyRecord>, StoreError>) -> Answer {
    match found {
        Ok(Some(key)) => match <[u8; 32]>::try_from(key.hash.as_slice()) {
            Ok(hash) => Answer::Known(KnownKey {
                tenant: key.tenant,
                hash,
                scopes: ScopeSet::from_names(&key.scopes),
                usable: key.tenant_state != TenantState::Deleted && key.revoked_at.is_none(),
                standing: Standing { state: key.tenant_state, limits: key.limits },
                expires: key
                    .expires_at
                    .map(|at| asked_at + (at - key.now).to_std().unwrap_or(Duration::ZERO)),
            }),
            Err(_) => Answer::Unknown,
        },
        Ok(None) => Answer::Unknown,
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "API keys cannot be checked: {error}");
            Answer::Failed(Code::of_store(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::key::{PresentedKey, generate};
    use secrecy::{ExposeSecret, SecretString};
    use std::sync::atomic::AtomicU32;

    fn id() -> KeyId {
        let secret = SecretString::from("0123456789abcdef0123456789ABCDEF".to_owned());
        let key = generate("live", &secret).unwrap();
        PresentedKey::parse(key.text.expose_secret(), "live").unwrap().id()
    }

    #[tokio::test]
    async fn parallel_requests_for_one_key_share_one_look_up() {
        let (cache, asked, id) = (KeyCache::new(Duration::from_secs(60)), AtomicU32::new(0), id());
        let gets = (0..50).map(|_| {
            cache.get(id, || async {
                asked.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Ok(None)
            })
        });
        for (_, answer) in futures::future::join_all(gets).await {
            assert!(matches!(answer, Answer::Unknown));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn an_answer_is_kept_for_its_time_and_a_failure_is_not() {
        let id = id();
        let cache = KeyCache::new(Duration::from_secs(60));
        let (_, answer) = cache.get(id, || async { Err(StoreError::Busy) }).await;
        assert!(matches!(answer, Answer::Failed(Code::Overloaded)));
        let (slot, answer) = cache.get(id, || async { Ok(None) }).await;
        assert!(matches!(answer, Answer::Unknown));
        assert!(slot.first_use() && !slot.first_use());
        let (_, answer) = cache.get(id, || async { Err(StoreError::Busy) }).await;
        assert!(matches!(answer, Answer::Unknown), "kept");

        let nothing_kept = KeyCache::new(Duration::ZERO);
        nothing_kept.get(id, || async { Ok(None) }).await;
        let (_, answer) = nothing_kept.get(id, || async { Err(StoreError::Busy) }).await;
        assert!(matches!(answer, Answer::Failed(_)), "asked again");
    }

    #[tokio::test]
    async fn made_up_keys_do_not_grow_the_cache_without_bound() {
        let cache = KeyCache::new(Duration::from_secs(60));
        let alphabet = b"abcdefghijklmnopqrstuvwxyz";
        let secret = SecretString::from("0123456789abcdef0123456789ABCDEF".to_owned());
        let mut bytes = generate("live", &secret).unwrap().id.into_bytes();
        for n in 0..3 * CAPACITY {
            (bytes[0], bytes[1], bytes[2], bytes[3]) = (
                alphabet[n % 26],
                alphabet[n / 26 % 26],
                alphabet[n / 676 % 26],
                alphabet[n / 17_576 % 26],
            );
            let made_up = KeyId::for_test(&bytes);
            cache.get(made_up, || async { Ok(None) }).await;
        }
        let kept = cache.generations.lock().unwrap();
        assert!(kept.young.len() + kept.old.len() <= 2 * CAPACITY);
    }
}
