//! Takes messages with hints from whoever the broker introduced.

use super::ANSWER;
use super::packet::{Call, Introduction, LONGEST_PARCEL, Offer, Receipt, Secret};
use super::socket::Socket;
use crate::delivery::{Delivery, Settle};
use crate::hint::HintBatch;
use crate::inbox::Inbox;
use crate::metrics;
use domain::id::PoolName;
use lapin::BasicProperties;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

/// Callers that are remembered. Where more come all are forgotten, and introduce themselves anew.
const CALLERS: usize = 64;

/// A socket at which hints of one pool are taken.
pub(crate) struct HintListener {
    socket: Socket,
    secret: Secret,
    pool: PoolName,
    callers: Mutex<HashMap<SocketAddr, Known>>,
}

/// Who was introduced by the broker.
#[derive(Clone, Copy)]
struct Known {
    secret: Secret,
    /// When it was last told that hints are taken here.
    told: Option<Instant>,
}

impl HintListener {
    /// At a free port of `ip`, at which it can be reached; `None` where there is none.
    pub(crate) fn open(ip: IpAddr, pool: PoolName) -> Option<Arc<Self>> {
        let (socket, secret) = (Socket::open(ip).ok()?, Secret::fresh()?);
        Some(Arc::new(Self { socket, secret, pool, callers: Mutex::default() }))
    }

    /// Where it is.
    pub(crate) fn ip(&self) -> IpAddr {
        self.socket.address().ip()
    }

    /// What came through the broker: tells who introduced itself, if somebody did, that hints are taken here.
    pub(crate) fn introduced(&self, properties: &BasicProperties, now: Instant) {
        let reachable = |to: &Introduction| self.socket.may_reach(to.address.ip());
        let Some(caller) = Introduction::read(properties).filter(reachable) else { return };
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS && !callers.contains_key(&caller.address) {
            callers.clear();
        }
        let fresh = Known { secret: caller.secret, told: None };
        let known = callers.entry(caller.address).or_insert(fresh);
        if known.secret != caller.secret {
            // Another one has the port now.
            *known = fresh;
        }
        if known.told.is_none_or(|at| now.saturating_duration_since(at) >= ANSWER) {
            known.told = Some(now);
            let (secret, call_with) = (caller.secret, self.secret);
            let offer = Offer { secret, call_with, pool: self.pool.clone() };
            // Who does not get it goes on through the broker.
            self.socket.send(&offer.bytes(), caller.address);
        }
    }

    /// Takes hints into `inbox`, for ever. Cancel-safe.
    pub(crate) async fn hear(self: &Arc<Self>, inbox: &Inbox) {
        let mut bytes = [0; LONGEST_PARCEL];
        loop {
            let (length, from) = self.socket.receive(&mut bytes).await;
            self.heard(&bytes[..length], from, inbox);
        }
    }

    fn heard(self: &Arc<Self>, bytes: &[u8], from: SocketAddr, inbox: &Inbox) {
        let Some((call, body)) = Call::read_parcel(bytes) else { return };
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        // Who was told this secret was introduced; who was forgotten since gets no receipt.
        let Some(caller) = callers.get(&from).filter(|_| call.secret == self.secret).copied()
        else {
            return;
        };
        drop(callers);
        let receipt = Receipt { secret: caller.secret, number: call.number, took: false };
        let settle = Box::new(ByReceipt { listener: Arc::clone(self), to: from, receipt });
        match HintBatch::decode(body) {
            Ok(batch) => {
                metrics::delivered(self.pool.as_str(), batch.hints.len(), false);
                let _ = inbox.offer(Delivery::new(batch, false, settle));
            }
            // Somebody else may be able to read it.
            Err(_) => settle.requeue(),
        }
    }
}

/// Tells the caller what became of its message.
struct ByReceipt {
    listener: Arc<HintListener>,
    to: SocketAddr,
    receipt: Receipt,
}

impl ByReceipt {
    fn send(&self, took: bool) {
        // One that is lost makes the caller send the message through the broker, too.
        self.listener.socket.send(&Receipt { took, ..self.receipt }.bytes(), self.to);
    }
}

impl Settle for ByReceipt {
    fn ack(self: Box<Self>) {
        self.send(true);
    }

    fn requeue(self: Box<Self>) {
        self.send(false);
    }
}
