//! How often somebody may try to sign in: by account, and by where they come from.
//!
//! Judged before the password is looked at, and counted in Postgres, so that it holds whichever process is asked. An account that
//! does not exist is counted like one that does. The rule: what is counted as right does not count, so that many people may
//! share an address, and nobody who can sign in is locked out by having done so.

use super::key::KeyHasher;
use crate::problem::{Code, Problem};
use crate::request::Peer;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::time::Duration;
use store::connect::SubmitDb;
use store::sign_in::{Attempt, give_back, take};

/// Passwords that are compared for one account within [`ACCOUNT_WINDOW`].
const PER_ACCOUNT: u32 = 10;
const ACCOUNT_WINDOW: Duration = Duration::from_secs(15 * 60);
/// Wrong ones from one peer within [`PEER_WINDOW`].
const PER_PEER: u32 = 100;
const PEER_WINDOW: Duration = Duration::from_secs(3600);

/// Counts tries.
pub(crate) struct Attempts(Hmac<Sha256>);

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attempts(..)")
    }
}

/// A try that was let through: what it was counted as.
#[derive(Debug)]
pub(crate) struct Counted {
    account: [u8; 32],
    peer: Option<[u8; 32]>,
}

impl Attempts {
    /// What is counted is stored hashed: addresses of people who mistyped theirs are nobody's business.
    pub(crate) fn new(hasher: &KeyHasher) -> Self {
        Self(hasher.derived_mac(b"sign-in/v1"))
    }

    /// Lets a try through, or not.
    pub(crate) async fn count(
        &self,
        db: &SubmitDb,
        (tenant, email): (&str, &str),
        peer: Option<Peer>,
    ) -> Result<Counted, Problem> {
        let peer = peer.map(|peer| self.subject(&["peer", &peer.to_string()]));
        let account = self.subject(&["account", tenant, email]);
        if let Some(peer) = &peer {
            judged(take(db, peer, PER_PEER, PEER_WINDOW).await?, "from where you are")?;
        }
        let answer = take(db, &account, PER_ACCOUNT, ACCOUNT_WINDOW).await?;
        if let (Attempt::Refused(_), Some(peer)) = (answer, &peer) {
            // No password was compared: a neighbour's locked account is not this place's guilt.
            give_back(db, peer).await?;
        }
        judged(answer, "to this account")?;
        Ok(Counted { account, peer })
    }

    /// The password was right.
    pub(crate) async fn right(&self, db: &SubmitDb, counted: &Counted) -> Result<(), Problem> {
        // Not all of the account's: its owner's own sign-ins must not make room for somebody who guesses.
        give_back(db, &counted.account).await?;
        if let Some(peer) = &counted.peer {
            give_back(db, peer).await?;
        }
        Ok(())
    }

    fn subject(&self, parts: &[&str]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

fn judged(answer: Attempt, which: &str) -> Result<(), Problem> {
    let wait = match answer {
        Attempt::Allowed => return Ok(()),
        Attempt::Refused(wait) => wait.as_secs() + 1,
    };
    let detail = format!("There were too many tries to sign in {which}; wait for {wait} s.");
    let seconds = u32::try_from(wait).unwrap_or(u32::MAX);
    Err(Problem::new(Code::TooManyAttempts, detail).waiting(seconds))
}
