//! What Postgres said of a credential, kept for a moment (`api.key_cache_ttl`).
//!
//! Used by `authenticate` and `operator` for every request. What was revoked works at most that long, counted from when
//! Postgres was asked. "No such key" is kept too, requests for one key share one look-up, and the number
//! of kept answers and of look-ups in flight is bounded: made-up keys cost an attacker more than us. Who was known before waits
//! for none of them.

use crate::fair_queue::FairQueue;
use crate::key::KeyId;
use crate::peer::Peer;
use crate::standing::Standing;
use domain::access::ScopeSet;
use domain::id::{TenantId, UserId};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use parking_lot::Mutex;
use runtime::clock::{Instant, monotonic};
use runtime::error_chain::ErrorChain;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::StoreError;
use store::key::KeyRecord;
use tokio::sync::OnceCell;

/// Answers kept in each of the two generations.
const CAPACITY: usize = 10_000;
/// Look-ups in flight of what was known when it was last asked for.
const OF_KNOWN: usize = 2;
/// Look-ups in flight of all others: the rest wait, so that made-up keys take no connections from submits and no turn from keys
/// that are good. In that line each peer stands once: a flood of made-up keys delays those that are new here by one look-up.
const OF_STRANGERS: usize = 1;

/// The part of an answer's time after which it is renewed.
const RENEWED_AT: f64 = 0.75;

/// What is kept of one kind of credential.
pub(crate) trait CachedCredential: Clone + Debug {
    /// What it is looked up by.
    type Id: Debug + Copy + Eq + Hash;
    /// What the database says.
    type Record;

    /// What is kept of a record that was asked for at `asked_at`; `None` when it cannot be read.
    fn of(record: Self::Record, asked_at: Instant) -> Option<Self>;
}

/// A key that exists.
#[derive(Debug, Clone)]
pub(crate) struct KnownKey {
    pub tenant: TenantId,
    /// On whose behalf it was made.
    pub user: Option<UserId>,
    pub hash: [u8; 32],
    pub scopes: ScopeSet,
    /// Not revoked, and its tenant is not deleted.
    pub usable: bool,
    pub standing: Standing,
    /// When it ends by itself, on this machine's clock.
    pub expires: Option<Instant>,
}

impl CachedCredential for KnownKey {
    type Id = KeyId;
    type Record = KeyRecord;

    fn of(key: KeyRecord, asked_at: Instant) -> Option<Self> {
        Some(Self {
            tenant: key.tenant,
            user: key.user,
            hash: key.hash.as_slice().try_into().ok()?,
            scopes: ScopeSet::from_names(&key.scopes),
            usable: key.tenant_state != TenantState::Deleted && key.revoked_at.is_none(),
            standing: Standing { state: key.tenant_state, plan: key.plan, limits: key.limits },
            expires: key.expires_at.map(|at| local(at, key.now, asked_at)),
        })
    }
}

/// A time of the database on this machine's clock.
pub(crate) fn local(at: Timestamp, now: Timestamp, asked_at: Instant) -> Instant {
    asked_at + (at - now).to_std().unwrap_or(Duration::ZERO)
}

#[derive(Debug, Clone)]
pub(crate) enum Lookup<K> {
    Found(K),
    Unknown,
    /// The database gave no answer; shared by those who waited for it, and not kept.
    Failed(Arc<StoreError>),
}

/// One look-up: who comes while it runs waits for it.
#[derive(Debug)]
pub(crate) struct Slot<K> {
    asked_at: Instant,
    answer: OnceCell<Lookup<K>>,
    used: AtomicBool,
    /// It is looked up again already, before this answer's time is over.
    renewed: AtomicBool,
    /// The look-up before found it.
    was_known: bool,
}

impl<K> Slot<K> {
    fn new(was_known: bool) -> Self {
        let [used, renewed] = [(); 2].map(|()| AtomicBool::new(false));
        Self { asked_at: monotonic(), answer: OnceCell::new(), used, renewed, was_known }
    }

    /// What the next look-up is to take it for: a failed one says nothing new.
    fn is_known(&self) -> bool {
        match self.answer.get() {
            Some(Lookup::Found(_)) => true,
            Some(Lookup::Unknown) => false,
            Some(Lookup::Failed(_)) | None => self.was_known,
        }
    }

    /// True for the first successful use of this answer.
    pub(crate) fn first_use(&self) -> bool {
        !self.used.load(Ordering::Relaxed) && !self.used.swap(true, Ordering::Relaxed)
    }

    fn is_fresh(&self, ttl: Duration) -> bool {
        let failed = matches!(self.answer.get(), Some(Lookup::Failed(_)));
        !failed && self.asked_at.elapsed() < ttl
    }
}

/// Two generations: when the young one is full it becomes the old one and the old one goes. So the
/// size is bounded without a list in order of use.
#[derive(Debug)]
struct Generations<K: CachedCredential> {
    young: HashMap<K::Id, Arc<Slot<K>>>,
    old: HashMap<K::Id, Arc<Slot<K>>>,
}

impl<K: CachedCredential> Generations<K> {
    fn keep(&mut self, id: K::Id, slot: Arc<Slot<K>>) {
        if self.young.len() >= CAPACITY {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(id, slot);
    }
}

#[derive(Debug)]
pub(crate) struct Cache<K: CachedCredential> {
    ttl: Duration,
    generations: Mutex<Generations<K>>,
    of_known: FairQueue,
    of_strangers: FairQueue,
}

impl<K: CachedCredential> Cache<K> {
    pub(crate) fn new(ttl: Duration) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new() };
        let (of_known, of_strangers) = (FairQueue::new(OF_KNOWN), FairQueue::new(OF_STRANGERS));
        Self { ttl, generations: Mutex::new(generations), of_known, of_strangers }
    }

    /// The slot of this key, which `peer` has sent, with its answer; `look_up` is called when none is kept.
    pub(crate) async fn get<F, Fut>(
        &self,
        (id, peer): (K::Id, Option<Peer>),
        look_up: F,
    ) -> (Arc<Slot<K>>, Lookup<K>)
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Option<K::Record>, StoreError>>,
    {
        let slot = self.slot(id);
        if let Some(answer) = slot.answer.get() {
            let answer = answer.clone();
            return (slot, answer);
        }
        let asked = slot.answer.get_or_init(|| async {
            // Who is known stands for itself.
            let (line, peer) =
                if slot.was_known { (&self.of_known, None) } else { (&self.of_strangers, peer) };
            let Some(_turn) = line.turn(peer).await else {
                return Lookup::Failed(Arc::new(StoreError::Busy));
            };
            answer_of(slot.asked_at, look_up().await)
        });
        let answer = asked.await.clone();
        (slot, answer)
    }

    /// True once of an answer that is soon too old: whoever asks then renews it, so that nobody has to wait for the next.
    pub(crate) fn is_to_be_renewed(&self, slot: &Slot<K>) -> bool {
        let age = slot.asked_at.elapsed();
        let soon = age >= self.ttl.mul_f64(RENEWED_AT) && age < self.ttl;
        soon && !slot.renewed.swap(true, Ordering::Relaxed)
    }

    /// Looks up anew a key that is known. Where that fails, what is kept serves to the end of its time.
    pub(crate) async fn renew<F, Fut>(&self, id: K::Id, look_up: F)
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<Option<K::Record>, StoreError>>,
    {
        let next = Slot::new(true);
        let Some(_turn) = self.of_known.turn(None).await else { return };
        let answer = answer_of(next.asked_at, look_up().await);
        if matches!(answer, Lookup::Failed(_)) {
            return;
        }
        let next = Arc::new(Slot { answer: OnceCell::new_with(Some(answer)), ..next });
        let mut generations = self.generations.lock();
        // A request may have asked later than this, where this took long.
        if generations.young.get(&id).is_none_or(|kept| kept.asked_at < next.asked_at) {
            generations.keep(id, next);
        }
    }

    fn slot(&self, id: K::Id) -> Arc<Slot<K>> {
        let mut generations = self.generations.lock();
        let kept = generations.young.get(&id).or_else(|| generations.old.get(&id));
        if let Some(slot) = kept.filter(|slot| slot.is_fresh(self.ttl)) {
            return Arc::clone(slot);
        }
        let was_known = kept.is_some_and(|slot| slot.is_known());
        let fresh = Arc::new(Slot::new(was_known));
        generations.keep(id, Arc::clone(&fresh));
        fresh
    }
}

fn answer_of<K: CachedCredential>(
    asked_at: Instant,
    found: Result<Option<K::Record>, StoreError>,
) -> Lookup<K> {
    match found {
        Ok(found) => {
            found.and_then(|record| K::of(record, asked_at)).map_or(Lookup::Unknown, Lookup::Found)
        }
        Err(error) => {
            tracing::warn!(error = %ErrorChain(&error), "Credentials cannot be checked: {error}");
            Lookup::Failed(Arc::new(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{PresentedKey, generate};
    use secrecy::{ExposeSecret, SecretString};
    use std::sync::atomic::AtomicU32;
    use tokio::sync::Semaphore;

    type KeyCache = Cache<KnownKey>;

    fn id() -> KeyId {
        let secret = SecretString::from("0123456789abcdef0123456789ABCDEF".to_owned());
        let key = generate("live", &secret).unwrap();
        PresentedKey::parse(key.text.expose_secret(), "live").unwrap().id()
    }

    #[tokio::test]
    async fn parallel_requests_for_one_key_share_one_look_up() {
        let (cache, asked, id) = (KeyCache::new(Duration::from_secs(60)), AtomicU32::new(0), id());
        let gets = (0..50).map(|_| {
            cache.get((id, None), || async {
                asked.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Ok(None)
            })
        });
        for (_, answer) in futures::future::join_all(gets).await {
            assert!(matches!(answer, Lookup::Unknown));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn an_answer_is_kept_for_its_time_and_a_failure_is_not() {
        let id = id();
        let cache = KeyCache::new(Duration::from_secs(60));
        let (_, answer) = cache.get((id, None), || async { Err(StoreError::Busy) }).await;
        assert!(matches!(&answer, Lookup::Failed(error) if matches!(**error, StoreError::Busy)));
        let (slot, answer) = cache.get((id, None), || async { Ok(None) }).await;
        assert!(matches!(answer, Lookup::Unknown));
        assert!(slot.first_use() && !slot.first_use());
        let (_, answer) = cache.get((id, None), || async { Err(StoreError::Busy) }).await;
        assert!(matches!(answer, Lookup::Unknown), "kept");

        let nothing_kept = KeyCache::new(Duration::ZERO);
        nothing_kept.get((id, None), || async { Ok(None) }).await;
        let (_, answer) = nothing_kept.get((id, None), || async { Err(StoreError::Busy) }).await;
        assert!(matches!(answer, Lookup::Failed(_)), "asked again");
    }

    fn record() -> KeyRecord {
        KeyRecord {
            id: "known".to_owned(),
            tenant: TenantId::fresh(),
            tenant_state: TenantState::Active,
            limits: domain::plan::PlanLimits::default(),
            plan: domain::id::PlanName::default(),
            user: None,
            hash: vec![0; 32],
            scopes: Vec::new(),
            expires_at: None,
            revoked_at: None,
            now: runtime::clock::wall(),
        }
    }

    #[tokio::test]
    async fn a_known_key_is_asked_for_again_while_strangers_wait_in_their_look_ups() {
        let (cache, known) = (KeyCache::new(Duration::ZERO), id());
        // The first time it is a stranger, too.
        let (_, answer) = cache.get((known, None), || async { Ok(Some(record())) }).await;
        assert!(matches!(answer, Lookup::Found(_)));
        let (gate, asked) = (Semaphore::new(0), AtomicU32::new(0));
        let strangers = futures::future::join_all((0..8).map(|_| {
            cache.get((id(), None), || async {
                asked.fetch_add(1, Ordering::SeqCst);
                let _open = gate.acquire().await;
                Ok(None)
            })
        }));
        let refreshes = async {
            tokio::task::yield_now().await;
            assert_eq!(asked.load(Ordering::SeqCst), 1, "one stranger at a time");
            // A look-up that failed in between makes it no stranger.
            let (_, answer) = cache.get((known, None), || async { Err(StoreError::Busy) }).await;
            assert!(matches!(answer, Lookup::Failed(_)));
            let (_, answer) = cache.get((known, None), || async { Ok(Some(record())) }).await;
            assert!(matches!(answer, Lookup::Found(_)));
            assert_eq!(asked.load(Ordering::SeqCst), 1, "the strangers still wait");
            gate.add_permits(8);
        };
        let (answers, ()) = futures::join!(strangers, refreshes);
        assert!(answers.iter().all(|(_, answer)| matches!(answer, Lookup::Unknown)));
        assert_eq!(asked.load(Ordering::SeqCst), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_use_is_renewed_before_its_time_is_over_and_once() {
        let (ttl, id) = (Duration::from_secs(1), id());
        let cache = KeyCache::new(ttl);
        let get = || cache.get((id, None), || async { Ok(Some(record())) });
        let slot = get().await.0;
        assert!(!cache.is_to_be_renewed(&slot), "it is young");
        let until =
            async |part| runtime::clock::sleep_until(slot.asked_at + ttl.mul_f64(part)).await;
        until(0.76).await;
        assert!(cache.is_to_be_renewed(&slot) && !cache.is_to_be_renewed(&slot));
        cache.renew(id, || async { Err(StoreError::Busy) }).await;
        assert!(Arc::ptr_eq(&slot, &get().await.0), "what failed changes nothing");
        cache
            .renew(id, || async {
                Ok(Some(KeyRecord { revoked_at: Some(runtime::clock::wall()), ..record() }))
            })
            .await;
        let (renewed, answer) = get().await;
        assert!(
            matches!(answer, Lookup::Found(key) if !key.usable),
            "what was found counts at once"
        );
        assert!(renewed.asked_at > slot.asked_at && renewed.first_use());
        until(1.1).await;
        assert!(
            Arc::ptr_eq(&renewed, &get().await.0),
            "nobody asks when the first one's time is over"
        );
        assert!(!cache.is_to_be_renewed(&slot), "nor is what is over renewed");
    }

    #[tokio::test]
    async fn a_renewal_that_took_long_does_not_undo_what_was_asked_later() {
        let id = id();
        let cache = KeyCache::new(Duration::ZERO);
        cache
            .renew(id, || async {
                cache.get((id, None), || async { Ok(None) }).await;
                Ok(Some(record()))
            })
            .await;
        let kept = cache.generations.lock().young[&id].clone();
        assert!(matches!(kept.answer.get(), Some(Lookup::Unknown)));
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
            cache.get((made_up, None), || async { Ok(None) }).await;
        }
        let kept = cache.generations.lock();
        assert!(kept.young.len() + kept.old.len() <= 2 * CAPACITY);
    }
}
