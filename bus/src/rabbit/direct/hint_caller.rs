//! Brings lone messages with hints to whoever offered to take them.

use super::packet::{Call, Introduction, LONGEST_BODY, LONGEST_REPLY, Offer, Receipt, Secret};
use super::socket::Socket;
use super::{INTRODUCE, RECEIPT, REST};
use crate::hint::HintBatch;
use crate::metrics;
use domain::id::PoolName;
use futures::future;
use lapin::BasicProperties;
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Hints were sent past the broker, and whether they arrived is not known.
static BROUGHT: FaultPoint = FaultPoint::new("bus.hints.brought");

/// Hints a datagram: they take 51 bytes each, of small tasks less.
const A_DATAGRAM: usize = 22;
/// Datagrams a batch, at most. Where there is more, what each costs counts for more than how soon it is there.
const DATAGRAMS: usize = 4;
/// Takers that are tried.
const TRIES: usize = 2;
/// Takers of one pool that are remembered.
const TAKERS: usize = 64;

/// A socket from which takers of hints are called.
pub(crate) struct HintCaller {
    socket: Socket,
    secret: Secret,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The last call's number.
    number: u64,
    pools: HashMap<PoolName, Pool>,
    /// Calls whose receipt has not come.
    open: HashMap<u64, oneshot::Sender<bool>>,
}

#[derive(Default)]
struct Pool {
    /// Who is next comes first.
    takers: VecDeque<Taker>,
    /// Who did not answer, and is not called whatever it offers.
    resting: HashMap<SocketAddr, Rest>,
    /// When a message through the broker last said where this process can be answered.
    introduced: Option<Instant>,
    /// Something has gone past the broker since.
    is_direct: bool,
}

/// How long it lasts after its begin, which doubles.
struct Rest {
    until: Instant,
    lasted: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taker {
    address: SocketAddr,
    secret: Secret,
}

impl HintCaller {
    /// With a free port of `ip`, at which it can be answered; `None` where there is none.
    pub(crate) fn open(ip: IpAddr) -> Option<Self> {
        let (socket, secret) = (Socket::open(ip).ok()?, Secret::fresh()?);
        Some(Self { socket, secret, known: Mutex::default() })
    }

    /// Says in the properties of a message to `pool` through the broker where its sender can be answered.
    pub(crate) fn introduce(
        &self,
        pool: &PoolName,
        now: Instant,
        properties: BasicProperties,
    ) -> BasicProperties {
        let mut known = self.known();
        let pool = known.pools.entry(pool.clone()).or_default();
        (pool.introduced, pool.is_direct) = (Some(now), false);
        let (address, secret) = (self.socket.address(), self.secret);
        Introduction { address, secret }.put_into(properties)
    }

    /// Pools whose hints have all gone past the broker for so long that whoever else could take them must be asked.
    pub(crate) fn to_introduce(&self, now: Instant) -> Vec<PoolName> {
        let since = |at: Instant| now.saturating_duration_since(at);
        let due =
            |pool: &Pool| pool.is_direct && pool.introduced.is_none_or(|at| since(at) >= INTRODUCE);
        let known = self.known();
        known.pools.iter().filter(|(_, pool)| due(pool)).map(|(name, _)| name.clone()).collect()
    }

    /// Brings the hints of `batch` to the next taker of `pool`, when first polled; to another one where that one does not take them. True
    /// where they were taken; else they must go through the broker, though some may have been taken. Takes [`TRIES`] times [`RECEIPT`] at most.
    pub(crate) async fn bring(&self, pool: &PoolName, batch: &HintBatch) -> bool {
        let Some(bodies) = bodies(batch) else { return false };
        for _ in 0..TRIES {
            let Some((taker, receipts)) = self.call(pool, &bodies) else { return false };
            let receipts = match BROUGHT.hit().await {
                Ok(()) => clock::timeout(RECEIPT, future::join_all(receipts)).await.ok(),
                // As if they had been refused.
                Err(_) => Some(vec![Ok(false)]),
            };
            let took =
                receipts.as_ref().is_some_and(|all| all.iter().all(|took| *took == Ok(true)));
            self.ended(pool, taker, took, receipts.is_some());
            if took {
                return true;
            }
        }
        false
    }

    fn call(
        &self,
        pool: &PoolName,
        bodies: &[Vec<u8>],
    ) -> Option<(Taker, Vec<oneshot::Receiver<bool>>)> {
        let mut known = self.known();
        let takers = &mut known.pools.get_mut(pool)?.takers;
        let taker = takers.pop_front()?;
        takers.push_back(taker);
        // Of those whose caller does not wait any more nobody will ask.
        known.open.retain(|_, reply| !reply.is_closed());
        let secret = taker.secret;
        let receipts = bodies.iter().map(|body| {
            known.number += 1;
            let (number, (reply, receipt)) = (known.number, oneshot::channel());
            // What cannot be sent is answered by the end of `reply`.
            if self.socket.send(&Call { secret, number }.with(body), taker.address) {
                known.open.insert(number, reply);
            }
            receipt
        });
        Some((taker, receipts.collect()))
    }

    /// Whoever did not take something leaves the round until it offers to take hints again: what goes through the broker introduces this process.
    fn ended(&self, pool: &PoolName, taker: Taker, took: bool, answered: bool) {
        let mut known = self.known();
        let Some(pool) = known.pools.get_mut(pool) else { return };
        if took {
            pool.resting.remove(&taker.address);
            pool.is_direct = true;
            return;
        }
        metrics::direct_hint_failed(if answered { "refused" } else { "unanswered" }).inc();
        pool.takers.retain(|known| *known != taker);
        if !answered {
            let now = clock::monotonic();
            let of_late = |rest: &Rest| now < rest.until + REST.1;
            pool.resting.retain(|_, rest| of_late(rest));
            let before = pool.resting.get(&taker.address).map(|rest| rest.lasted);
            let lasted = before.map_or(REST.0, |lasted| (lasted * 2).min(REST.1));
            if pool.resting.len() < TAKERS {
                pool.resting.insert(taker.address, Rest { until: now + lasted, lasted });
            }
        }
    }

    /// Answers all that is open, and brings nothing more: nobody hears receipts from now on.
    pub(crate) fn end(&self) {
        *self.known() = Known::default();
    }

    /// Hears offers and receipts, for ever. Cancel-safe.
    pub(crate) async fn hear(&self) {
        let mut bytes = [0; LONGEST_REPLY];
        loop {
            let (length, from) = self.socket.receive(&mut bytes).await;
            self.heard(&bytes[..length], from);
        }
    }

    fn heard(&self, bytes: &[u8], from: SocketAddr) {
        if let Some(receipt) = Receipt::read(bytes).filter(|receipt| receipt.secret == self.secret)
        {
            if let Some(reply) = self.known().open.remove(&receipt.number) {
                // Nobody waits for it any more where this fails.
                let _ = reply.send(receipt.took);
            }
        } else if let Some(offer) = Offer::read(bytes).filter(|offer| offer.secret == self.secret) {
            let mut known = self.known();
            // Who offers to take hints of a pool has one that this process sent there.
            let Some(pool) = known.pools.get_mut(&offer.pool) else { return };
            let now = clock::monotonic();
            if pool.resting.get(&from).is_some_and(|rest| now < rest.until) {
                return;
            }
            pool.takers.retain(|known| known.address != from);
            pool.takers.push_front(Taker { address: from, secret: offer.call_with });
            pool.takers.truncate(TAKERS);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A few datagrams with all of these hints; `None` where there are none or too many, or some take more room than usual.
fn bodies(batch: &HintBatch) -> Option<Vec<Vec<u8>>> {
    if !(1..=A_DATAGRAM * DATAGRAMS).contains(&batch.hints.len()) {
        return None;
    }
    let parts = batch.hints.chunks(A_DATAGRAM);
    let bodies = parts.map(|hints| {
        let part = HintBatch { trace: batch.trace, hints: hints.to_vec() };
        part.encode().ok().filter(|body| body.len() <= LONGEST_BODY)
    });
    bodies.collect()
}
