//! What is in a datagram, and in the properties of a message through the broker that introduces its sender.

use crate::topic::Topic;
use domain::id::PoolName;
use lapin::BasicProperties;
use std::net::SocketAddr;

/// Of one socket; whoever knows it was told by its owner, or by the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret([u8; 16]);

/// "Look now", to a listener; or, with a body behind it, "take this".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    /// The listener's.
    pub(super) secret: Secret,
    /// Running number of the caller's, from 1.
    pub(super) number: u64,
}

/// "Call me", or "I heard you", to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// The caller's.
    pub(super) secret: Secret,
    /// To be called with.
    pub(super) call_with: Secret,
    /// What the listener acts on.
    pub(super) topic: Topic,
}

/// What became of a message with hints, to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Receipt {
    /// The caller's.
    pub(super) secret: Secret,
    /// The call's.
    pub(super) number: u64,
    /// False where it must go another way.
    pub(super) took: bool,
}

/// "Hints of this pool can be brought to me", to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    /// The caller's.
    pub(super) secret: Secret,
    /// To be called with.
    pub(super) call_with: Secret,
    pub(super) pool: PoolName,
}

/// Who sent a message through the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Introduction {
    pub(super) address: SocketAddr,
    pub(super) secret: Secret,
}

const CALL: usize = 16 + 8;
const ANSWER: usize = 16 + 16 + 1;
const RECEIPT: usize = 16 + 8 + 1;
/// Before the name of a pool.
const OFFER: usize = 16 + 16;
/// Room for the longest wake-up or answer, and one byte by which a longer one is told.
pub(super) const LONGEST: usize = ANSWER + 1;
/// Room for the longest receipt or offer (a pool's name has 63 bytes at most), and one byte by which a longer one is told.
pub(super) const LONGEST_REPLY: usize = OFFER + 63 + 1;
/// The longest message with hints: every network carries it in one packet (IPv6 asks for 1280 bytes, of which its headers take 48).
pub(super) const LONGEST_BODY: usize = 1280 - 48 - CALL;
/// Room for it, and one byte by which a longer one is cut: that is no batch of hints any more.
pub(super) const LONGEST_PARCEL: usize = CALL + LONGEST_BODY + 1;

/// The number that its sender gave a message through the broker.
pub(super) fn number_of(properties: &BasicProperties) -> Option<u64> {
    properties.message_id().as_ref()?.as_str().parse().ok()
}

impl Secret {
    /// A new one; `None` where the system has no random numbers.
    pub(super) fn fresh() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok().map(|()| Self(bytes))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl Call {
    pub(super) fn bytes(self) -> [u8; CALL] {
        let mut bytes = [0; CALL];
        bytes[..16].copy_from_slice(&self.secret.0);
        bytes[16..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Self::read_parcel(bytes).filter(|(_, body)| body.is_empty()).map(|(call, _)| call)
    }

    /// With what it brings.
    pub(super) fn with(self, body: &[u8]) -> Vec<u8> {
        [&self.bytes(), body].concat()
    }

    /// A call, and what it brings.
    pub(super) fn read_parcel(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (call, body) = bytes.split_at_checked(CALL)?;
        let (secret, number) = call.split_at(16);
        let number = u64::from_be_bytes(number.try_into().ok()?);
        Some((Self { secret: Secret::read(secret)?, number }, body))
    }
}

impl Receipt {
    pub(super) fn bytes(self) -> [u8; RECEIPT] {
        let mut bytes = [0; RECEIPT];
        bytes[..16].copy_from_slice(&self.secret.0);
        bytes[16..24].copy_from_slice(&self.number.to_be_bytes());
        bytes[24] = self.took.into();
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; RECEIPT] = bytes.try_into().ok()?;
        let number = u64::from_be_bytes(bytes[16..24].try_into().ok()?);
        Some(Self { secret: Secret::read(&bytes[..16])?, number, took: bytes[24] == 1 })
    }
}

impl Offer {
    pub(super) fn bytes(&self) -> Vec<u8> {
        [&self.secret.0, &self.call_with.0, self.pool.as_str().as_bytes()].concat()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (secrets, pool) = bytes.split_at_checked(OFFER)?;
        let pool = std::str::from_utf8(pool).ok()?.parse().ok()?;
        let (secret, call_with) = secrets.split_at(16);
        Some(Self { secret: Secret::read(secret)?, call_with: Secret::read(call_with)?, pool })
    }
}

impl Answer {
    pub(super) fn bytes(self) -> [u8; ANSWER] {
        let mut bytes = [0; ANSWER];
        bytes[..16].copy_from_slice(&self.secret.0);
        bytes[16..32].copy_from_slice(&self.call_with.0);
        bytes[32] = self.topic.bit();
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; ANSWER] = bytes.try_into().ok()?;
        let topic = Topic::ALL.into_iter().find(|topic| topic.bit() == bytes[32])?;
        let (secret, call_with) = (Secret::read(&bytes[..16])?, Secret::read(&bytes[16..32])?);
        Some(Self { secret, call_with, topic })
    }
}

impl Introduction {
    /// In the standard properties for this: where an answer goes, and what it names.
    pub(super) fn put_into(self, properties: BasicProperties) -> BasicProperties {
        properties
            .with_reply_to(self.address.to_string().into())
            .with_correlation_id(format!("{:032x}", u128::from_be_bytes(self.secret.0)).into())
    }

    pub(super) fn read(properties: &BasicProperties) -> Option<Self> {
        let secret = properties.correlation_id().as_ref()?.as_str();
        Some(Self {
            address: properties.reply_to().as_ref()?.as_str().parse().ok()?,
            secret: Secret(u128::from_str_radix(secret, 16).ok()?.to_be_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let (mine, yours) = (Secret::fresh().unwrap(), Secret::fresh().unwrap());
        let call = Call { secret: mine, number: 7 };
        assert_eq!(Call::read(&call.bytes()), Some(call));
        let answer = Answer { secret: mine, call_with: yours, topic: Topic::Output };
        assert_eq!(Answer::read(&answer.bytes()), Some(answer));
        let receipt = Receipt { secret: yours, number: 8, took: true };
        assert_eq!(Receipt::read(&receipt.bytes()), Some(receipt));
        let offer = Offer { secret: mine, call_with: yours, pool: "gpu-large".parse().unwrap() };
        assert_eq!(Offer::read(&offer.bytes()), Some(offer));
        for length in 0..=LONGEST {
            assert_eq!(Call::read(&vec![1; length]).is_some(), length == CALL);
            assert_eq!(Receipt::read(&vec![1; length]).is_some(), length == RECEIPT);
            // No topic has two bits, and no pool this name.
            assert_eq!(Answer::read(&vec![3; length]), None);
            assert_eq!(Offer::read(&vec![3; length]), None);
        }
    }

    #[test]
    fn a_call_brings_what_it_was_given() {
        let call = Call { secret: Secret::fresh().unwrap(), number: 7 };
        for body in [Vec::new(), vec![4; LONGEST_BODY]] {
            let parcel = call.with(&body);
            assert_eq!(Call::read_parcel(&parcel), Some((call, body.as_slice())));
            assert!(parcel.len() < LONGEST_PARCEL);
        }
        assert_eq!(Call::read_parcel(&call.bytes()[1..]), None);
    }

    #[test]
    fn who_introduces_itself_is_known_from_the_properties() {
        let mine = Secret::fresh().unwrap();
        for address in ["10.1.2.3:4567", "[fd00::1]:89"] {
            let address = address.parse().unwrap();
            let introduction = Introduction { address, secret: mine };
            let properties = introduction.put_into(BasicProperties::default());
            assert_eq!(Introduction::read(&properties), Some(introduction));
        }
        let told = BasicProperties::default().with_reply_to("somewhere".into());
        assert_eq!(Introduction::read(&told), None);
    }
}
