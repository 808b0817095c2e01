//! What is in a datagram, and in the properties of a wake-up through the broker that introduces its sender.

use crate::topic::Topic;
use lapin::BasicProperties;
use std::net::SocketAddr;

/// Of one socket; whoever knows it was told by its owner, or by the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret([u8; 16]);

/// "Look now", to a listener.
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

/// Who sent a wake-up through the broker, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Introduction {
    pub(super) address: SocketAddr,
    pub(super) secret: Secret,
    pub(super) number: u64,
}

const CALL: usize = 16 + 8;
const ANSWER: usize = 16 + 16 + 1;
/// Room for the longest, and one byte by which a longer one is told.
pub(super) const LONGEST: usize = ANSWER + 1;

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
        let (secret, number) = bytes.split_at_checked(16)?;
        let number = u64::from_be_bytes(number.try_into().ok()?);
        Some(Self { secret: Secret::read(secret)?, number })
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
    /// In the standard properties for this: where an answer goes, what it names, and which message it was.
    pub(super) fn put_into(self, properties: BasicProperties) -> BasicProperties {
        properties
            .with_reply_to(self.address.to_string().into())
            .with_correlation_id(format!("{:032x}", u128::from_be_bytes(self.secret.0)).into())
            .with_message_id(self.number.to_string().into())
    }

    pub(super) fn read(properties: &BasicProperties) -> Option<Self> {
        let secret = properties.correlation_id().as_ref()?.as_str();
        Some(Self {
            address: properties.reply_to().as_ref()?.as_str().parse().ok()?,
            secret: Secret(u128::from_str_radix(secret, 16).ok()?.to_be_bytes()),
            number: properties.message_id().as_ref()?.as_str().parse().ok()?,
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
        for length in 0..=LONGEST {
            assert_eq!(Call::read(&vec![1; length]).is_some(), length == CALL);
            // No topic has two bits.
            assert_eq!(Answer::read(&vec![3; length]), None);
        }
        for address in ["10.1.2.3:4567", "[fd00::1]:89"] {
            let address = address.parse().unwrap();
            let introduction = Introduction { address, secret: mine, number: u64::MAX };
            let properties = introduction.put_into(BasicProperties::default());
            assert_eq!(Introduction::read(&properties), Some(introduction));
        }
        let told = BasicProperties::default().with_reply_to("somewhere".into());
        assert_eq!(Introduction::read(&told), None);
    }
}
