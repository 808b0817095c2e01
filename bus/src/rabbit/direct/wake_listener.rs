//! Is called, and answers.

use super::ANSWER;
use super::packet::{Answer, Call, Introduction, LONGEST, Secret, number_of};
use super::socket::Socket;
use crate::topic::Topic;
use lapin::BasicProperties;
use runtime::clock::Instant;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// A socket at which a process is called that may act on `topic`.
pub(crate) struct WakeListener {
    socket: Socket,
    secret: Secret,
    topic: Topic,
    callers: HashMap<SocketAddr, Known>,
}

/// Where somebody calls from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallerAt(SocketAddr);

/// Who was introduced by the broker.
struct Known {
    secret: Secret,
    /// The last call's.
    number: u64,
    answered: Option<Instant>,
}

/// Callers that are remembered. Where more come all are forgotten, and introduce themselves anew.
const CALLERS: usize = 256;

impl WakeListener {
    /// At a free port of `ip`, at which it can be reached; `None` where there is none.
    pub(crate) fn open(ip: IpAddr, topic: Topic) -> Option<Self> {
        let (socket, secret) = (Socket::open(ip).ok()?, Secret::fresh()?);
        Some(Self { socket, secret, topic, callers: HashMap::new() })
    }

    /// Waits for a call from somebody who may call: from where, and whether it is news. Cancel-safe.
    pub(crate) async fn called(&mut self) -> (CallerAt, bool) {
        let mut bytes = [0; LONGEST];
        loop {
            let (length, from) = self.socket.receive(&mut bytes).await;
            // Who knows the secret was answered once.
            let call = Call::read(&bytes[..length]).filter(|call| call.secret == self.secret);
            let Some(call) = call else { continue };
            let is_news = self.callers.get_mut(&from).is_none_or(|known| known.hears(call.number));
            return (CallerAt(from), is_news);
        }
    }

    /// What came through the broker: who is to be answered, where somebody introduced itself, and whether it is news.
    pub(crate) fn introduced(&mut self, properties: &BasicProperties) -> (Option<CallerAt>, bool) {
        let reachable = |to: &Introduction| self.socket.may_reach(to.address.ip());
        let caller = Introduction::read(properties).filter(reachable);
        let Some((caller, number)) = caller.zip(number_of(properties)) else {
            return (None, true);
        };
        if self.callers.len() >= CALLERS && !self.callers.contains_key(&caller.address) {
            self.callers.clear();
        }
        let Introduction { address, secret } = caller;
        let known =
            self.callers.entry(address).or_insert(Known { secret, number: 0, answered: None });
        if known.secret != secret {
            // Another one has the port now.
            *known = Known { secret, number: 0, answered: None };
        }
        (Some(CallerAt(address)), known.hears(number))
    }

    /// Says that it hears and acts, where it has not just done so.
    pub(crate) fn answer(&mut self, caller: CallerAt, now: Instant) {
        let Some(known) = self.callers.get_mut(&caller.0) else { return };
        if known.answered.is_some_and(|at| now.saturating_duration_since(at) < ANSWER) {
            return;
        }
        known.answered = Some(now);
        let answer = Answer { secret: known.secret, call_with: self.secret, topic: self.topic };
        // Who does not get it goes on through the broker.
        self.socket.send(&answer.bytes(), caller.0);
    }
}

impl Known {
    /// False where it has heard this wake-up, or a later one.
    fn hears(&mut self, number: u64) -> bool {
        let is_news = number > self.number;
        self.number = self.number.max(number);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn introduction(address: SocketAddr, number: u64) -> BasicProperties {
        let properties = BasicProperties::default().with_message_id(number.to_string().into());
        Introduction { address, secret: Secret::fresh().unwrap() }.put_into(properties)
    }

    #[tokio::test]
    async fn it_remembers_so_many_callers_and_no_more() {
        let mut listener =
            WakeListener::open([127, 0, 0, 1].into(), Topic::Batcher).expect("a free port");
        for port in 1..=1000 {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let (from, is_news) = listener.introduced(&introduction(address, 1));
            assert_eq!((from, is_news), (Some(CallerAt(address)), true));
            assert!(listener.callers.len() <= CALLERS);
        }
    }

    #[tokio::test]
    async fn it_answers_no_address_that_is_another_machine_s() {
        let mut listener =
            WakeListener::open([127, 0, 0, 1].into(), Topic::Batcher).expect("a free port");
        for address in ["10.0.0.1:7", "[::1]:7"] {
            let told = listener.introduced(&introduction(address.parse().unwrap(), 1));
            assert_eq!(told, (None, true), "{address}");
        }
        assert!(listener.callers.is_empty());
        assert_eq!(listener.introduced(&BasicProperties::default()), (None, true));
    }

    #[tokio::test]
    async fn what_it_has_heard_is_no_news_and_another_one_at_that_port_is() {
        let mut listener =
            WakeListener::open([127, 0, 0, 1].into(), Topic::Batcher).expect("a free port");
        let address = SocketAddr::from(([127, 0, 0, 1], 7));
        let first = introduction(address, 5);
        assert!(listener.introduced(&first).1);
        assert!(!listener.introduced(&first).1);
        assert!(listener.introduced(&introduction(address, 1)).1);
    }
}
