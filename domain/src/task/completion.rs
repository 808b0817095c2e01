//! Late completion: a call after whose answer its task runs on, until somebody says how it ended.
//!
//! The call carries a token. It is a MAC (HMAC-SHA256) under the id of the session that got the lease, which is random and known to
//! nobody but that executor and Berth, over the tenant, the task and the attempt: so nothing is stored for it, and it is over with its
//! attempt.

use super::lease::LeaseKey;
use crate::id::TenantId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// When a call's task is over.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum CompleteOn {
    /// With the answer.
    #[default]
    Answer,
    /// A good answer says only that the call was taken on; `POST /v1/tasks/{id}/complete` ends the task, or its cap does.
    Callback,
}

impl CompleteOn {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Answer, Self::Callback];

    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it is over with the answer.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

/// A text does not say when a call's task is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be `answer` or `callback`")]
pub struct ParseCompleteOnError;

impl FromStr for CompleteOn {
    type Err = ParseCompleteOnError;

    fn from_str(text: &str) -> Result<Self, ParseCompleteOnError> {
        Self::ALL.into_iter().find(|on| on.as_str() == text).ok_or(ParseCompleteOnError)
    }
}

/// What tokens begin with: so that scanners for leaked secrets can find them.
const PREFIX: &str = "berthcomplete_";
/// What the MAC is for: the same key may have other uses.
const PURPOSE: &[u8] = b"berth completion";
/// Tenant, attempt, MAC.
const BYTES: usize = 16 + 4 + 32;

/// The right to say how one attempt ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CompletionToken {
    tenant: TenantId,
    attempt: u32,
    mac: [u8; 32],
}

impl CompletionToken {
    /// The one for this lease, as it was granted.
    #[must_use]
    pub fn of(lease: &LeaseKey) -> Self {
        let mac = mac(lease).finalize().into_bytes().into();
        Self { tenant: lease.tenant, attempt: lease.attempt, mac }
    }

    /// Whose task it says it is for.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// Which attempt it says it is for.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether it is the one for this lease; takes the same time whatever differs.
    #[must_use]
    pub fn is_of(&self, lease: &LeaseKey) -> bool {
        let same = (self.tenant, self.attempt) == (lease.tenant, lease.attempt);
        same && mac(lease).verify_slice(&self.mac).is_ok()
    }
}

fn mac(lease: &LeaseKey) -> Hmac<Sha256> {
    // A key of any length will do, so this cannot fail.
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(lease.session.uuid().as_bytes())
        .unwrap_or_else(|_| <Hmac<Sha256> as KeyInit>::new(&Default::default()));
    mac.update(PURPOSE);
    mac.update(lease.tenant.uuid().as_bytes());
    mac.update(lease.task.uuid().as_bytes());
    mac.update(&lease.attempt.to_be_bytes());
    mac
}

/// As the call carries it. A secret.
impl fmt::Display for CompletionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; BYTES];
        bytes[..16].copy_from_slice(self.tenant.uuid().as_bytes());
        bytes[16..20].copy_from_slice(&self.attempt.to_be_bytes());
        bytes[20..].copy_from_slice(&self.mac);
        write!(f, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl fmt::Debug for CompletionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompletionToken({}, attempt {})", self.tenant, self.attempt)
    }
}

/// A text is no completion token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no completion token; a call carries it as `Berth-Completion-Token`")]
pub struct ParseTokenError;

impl FromStr for CompletionToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let text = text.strip_prefix(PREFIX).ok_or(ParseTokenError)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| ParseTokenError)?;
        let bytes = <[u8; BYTES]>::try_from(bytes).map_err(|_| ParseTokenError)?;
        let (tenant, rest) = bytes.split_first_chunk::<16>().ok_or(ParseTokenError)?;
        let (attempt, mac) = rest.split_first_chunk::<4>().ok_or(ParseTokenError)?;
        Ok(Self {
            tenant: TenantId(Uuid::from_bytes(*tenant)),
            attempt: u32::from_be_bytes(*attempt),
            mac: <[u8; 32]>::try_from(mac).map_err(|_| ParseTokenError)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{SessionId, TaskId};

    fn lease() -> LeaseKey {
        let (tenant, task, session) = (TenantId::fresh(), TaskId::fresh(), SessionId::fresh());
        LeaseKey { tenant, task, attempt: 3, session }
    }

    #[test]
    fn a_token_is_of_its_lease_and_of_no_other() {
        let lease = lease();
        let token: CompletionToken = CompletionToken::of(&lease).to_string().parse().unwrap();
        assert_eq!((token.tenant(), token.attempt()), (lease.tenant, 3));
        assert!(token.is_of(&lease));
        for other in [
            LeaseKey { tenant: TenantId::fresh(), ..lease },
            LeaseKey { task: TaskId::fresh(), ..lease },
            LeaseKey { attempt: 4, ..lease },
            LeaseKey { session: SessionId::fresh(), ..lease },
        ] {
            assert!(!token.is_of(&other), "{other:?}");
        }
        let forged = CompletionToken { attempt: 4, ..token };
        assert!(!forged.is_of(&LeaseKey { attempt: 4, ..lease }));
    }

    #[test]
    fn other_texts_are_no_tokens_and_the_secret_is_in_no_debug_text() {
        let token = CompletionToken::of(&lease());
        let text = token.to_string();
        assert!(text.len() < 100 && text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        let cut = text.strip_suffix(|_: char| true).unwrap();
        for wrong in ["", PREFIX, cut, &text[1..], &format!("{text}A"), &text.to_uppercase()] {
            assert_eq!(wrong.parse::<CompletionToken>(), Err(ParseTokenError), "{wrong}");
        }
        let secret = text.strip_prefix(PREFIX).unwrap();
        assert!(!format!("{token:?}").contains(&secret[27..]));
    }
}
