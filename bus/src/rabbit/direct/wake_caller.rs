//! Calls whoever answered.

use super::HEARD;
use super::packet::{Answer, Call, Introduction, LONGEST, Secret};
use super::socket::Socket;
use crate::topic::Topic;
use lapin::BasicProperties;
use runtime::clock::{self, Instant};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A socket with which listeners are called. Each has at most one a topic.
pub(crate) struct WakeCaller {
    socket: Socket,
    secret: Secret,
    /// The last call's.
    number: AtomicU64,
    callees: Mutex<[Option<Callee>; Topic::ALL.len()]>,
}

#[derive(Clone, Copy)]
struct Callee {
    address: SocketAddr,
    secret: Secret,
    heard: Instant,
}

/// How far a wake-up came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// To somebody who has answered of late.
    Directly,
    /// It has to go through the broker, too; it has this number.
    Perhaps(u64),
}

impl WakeCaller {
    /// With a free port of `ip`, at which it can be reached; `None` where there is none.
    pub(crate) fn open(ip: IpAddr) -> Option<Self> {
        let (socket, secret) = (Socket::open(ip).ok()?, Secret::fresh()?);
        let (number, callees) = (AtomicU64::new(0), Mutex::default());
        Some(Self { socket, secret, number, callees })
    }

    /// Calls whoever acts on `topic`. Never waits.
    pub(crate) fn call(&self, topic: Topic, now: Instant) -> Told {
        let number = self.number.fetch_add(1, Ordering::AcqRel) + 1;
        let callee = self.callees()[topic.index()];
        let Some(Callee { address, secret, heard }) = callee else { return Told::Perhaps(number) };
        let sent = self.socket.send(&Call { secret, number }.bytes(), address);
        if sent && now.saturating_duration_since(heard) < HEARD {
            Told::Directly
        } else {
            Told::Perhaps(number)
        }
    }

    /// Says in the properties of wake-up `number` where its sender can be answered.
    pub(crate) fn introduce(&self, number: u64, properties: BasicProperties) -> BasicProperties {
        let (address, secret) = (self.socket.address(), self.secret);
        let properties = properties.with_message_id(number.to_string().into());
        Introduction { address, secret }.put_into(properties)
    }

    /// Hears answers, for ever. Cancel-safe.
    pub(crate) async fn hear(&self) {
        let mut bytes = [0; LONGEST];
        loop {
            let (length, from) = self.socket.receive(&mut bytes).await;
            self.heard(&bytes[..length], from, clock::monotonic());
        }
    }

    fn heard(&self, bytes: &[u8], address: SocketAddr, heard: Instant) {
        let Some(answer) = Answer::read(bytes).filter(|answer| answer.secret == self.secret) else {
            return;
        };
        let secret = answer.call_with;
        self.callees()[answer.topic.index()] = Some(Callee { address, secret, heard });
    }

    fn callees(&self) -> MutexGuard<'_, [Option<Callee>; Topic::ALL.len()]> {
        self.callees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
