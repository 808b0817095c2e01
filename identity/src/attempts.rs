//! How often somebody may try to sign in: by where they come from, by account from there, and by account.
//!
//! Judged before the password is looked at, and counted in Postgres, so that it holds whichever process is asked; a refusal is
//! remembered here for a moment, so that who goes on all the same asks nobody. An account that does not exist is counted like one
//! that does. The rule: whoever guesses keeps nobody out elsewhere. One place alone cannot use the account's tries up, and from where
//! its password was right of late they are not needed. What was right counts with the sign-ins of the account and not with its
//! tries.

use crate::error::IdentityError;
use crate::key::KeyHasher;
use crate::peer::Peer;
use crate::refused::Refused;
use domain::id::UserId;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::time::Duration;
use store::connect::SubmitDb;
use store::sign_in::{Attempt, give_back, is_known_place, know_place, take};

/// So many within so long.
#[derive(Debug, Clone, Copy)]
struct Limit {
    most: u32,
    window: Duration,
    /// Of what, in a refusal.
    which: &'static str,
}

const fn limit(most: u32, minutes: u64, which: &'static str) -> Limit {
    Limit { most, window: Duration::from_secs(minutes * 60), which }
}

/// Wrong passwords from one peer.
const OF_PEER: Limit = limit(100, 60, "sign-in attempts from your address");
/// Wrong passwords for one account from one peer: half of what the account has.
const OF_ACCOUNT_THERE: Limit = limit(5, 15, "sign-in attempts to this account from your address");
/// Wrong passwords for one account, from where it was not signed in to of late.
const OF_ACCOUNT: Limit = limit(10, 15, "sign-in attempts to this account");
/// Right ones.
const SIGN_INS: Limit = limit(60, 60, "sign-ins to this account");
/// Wrong old passwords of one who wants a new one.
const OLD_PASSWORDS: Limit = limit(10, 15, "attempts to change this password");
/// Customers who sign up from one peer, and who try to.
const SIGN_UPS: Limit = limit(10, 60, "sign-up attempts from your address");

type Subject = [u8; 32];

/// Counts tries.
pub(crate) struct Attempts {
    mac: Hmac<Sha256>,
    refused: Refused,
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attempts(..)")
    }
}

/// Whose account somebody wants to sign in to, and from where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trying<'a> {
    /// The tenant's name, as it was sent.
    pub tenant: &'a str,
    /// In lower case.
    pub email: &'a str,
    /// From where; not known where the socket has no address.
    pub peer: Option<Peer>,
}

/// A try, and as what it counts.
#[derive(Debug)]
pub(crate) struct Counted {
    /// What it is counted as wherever it comes from; once it was let through, all that it was counted as.
    tries: Vec<(Subject, Limit)>,
    account: Subject,
    /// The account and the peer, where that is known.
    place: Option<Subject>,
    sign_ins: Subject,
}

impl Attempts {
    /// What is counted is stored hashed: addresses of people who mistyped theirs are nobody's business.
    pub(crate) fn new(hasher: &KeyHasher) -> Self {
        Self { mac: hasher.derived_mac(b"sign-in/v1"), refused: Refused::default() }
    }

    /// What a try counts as; nothing is counted yet.
    ///
    /// # Errors
    /// `TooManyAttempts` where one of these was refused a moment ago.
    pub(crate) fn begin(&self, trying: Trying<'_>) -> Result<Counted, IdentityError> {
        let Trying { tenant, email, peer } = trying;
        let peer = peer.map(|peer| peer.to_string());
        let mut tries = Vec::with_capacity(3);
        if let Some(peer) = &peer {
            tries.push((self.subject(&["peer", peer]), OF_PEER));
            tries.push((self.subject(&["there", tenant, email, peer]), OF_ACCOUNT_THERE));
        }
        let counted = Counted {
            tries,
            account: self.subject(&["account", tenant, email]),
            place: peer.map(|peer| self.subject(&["place", tenant, email, &peer])),
            sign_ins: self.subject(&["sign-ins", tenant, email]),
        };
        let strange = counted.place.unwrap_or(counted.account);
        let others = [(strange, OF_ACCOUNT), (counted.sign_ins, SIGN_INS)];
        for (subject, limit) in counted.tries.iter().chain(&others) {
            self.not_refused(subject, *limit)?;
        }
        Ok(counted)
    }

    /// Lets a try through, or not.
    ///
    /// # Errors
    /// `TooManyAttempts`; what the database said.
    pub(crate) async fn count(
        &self,
        db: &SubmitDb,
        counted: &mut Counted,
    ) -> Result<(), IdentityError> {
        for (at, (subject, limit)) in counted.tries.iter().enumerate() {
            if let Err(error) = self.take(db, subject, *limit).await {
                return self.count_nothing(db, &counted.tries[..at], error).await;
            }
        }
        match self.take_of_account(db, counted).await {
            Ok(None) => Ok(()),
            Ok(Some(account)) => {
                counted.tries.push(account);
                Ok(())
            }
            Err(error) => self.count_nothing(db, &counted.tries, error).await,
        }
    }

    /// One of the account's tries, unless it was signed in to from there.
    async fn take_of_account(
        &self,
        db: &SubmitDb,
        counted: &Counted,
    ) -> Result<Option<(Subject, Limit)>, IdentityError> {
        if let Some(place) = &counted.place
            && is_known_place(db, place).await?
        {
            return Ok(None);
        }
        let taken = self.take(db, &counted.account, OF_ACCOUNT).await;
        // For this place only: the account's owner may come from another.
        if let (Some(place), Some(wait)) = (counted.place, self.refused.wait(&counted.account)) {
            self.refused.remember(place, wait);
        }
        taken.map(|()| Some((counted.account, OF_ACCOUNT)))
    }

    /// No password was compared: a neighbour's locked account is not this place's guilt.
    async fn count_nothing(
        &self,
        db: &SubmitDb,
        taken: &[(Subject, Limit)],
        error: IdentityError,
    ) -> Result<(), IdentityError> {
        for (subject, _) in taken {
            give_back(db, subject).await?;
        }
        Err(error)
    }

    /// The password was right. Not all tries of the account come back: its owner's own sign-ins must not make room for somebody
    /// who guesses.
    ///
    /// # Errors
    /// `TooManyAttempts` for one who signs in all the time; what the database said.
    pub(crate) async fn right(
        &self,
        db: &SubmitDb,
        counted: &Counted,
    ) -> Result<(), IdentityError> {
        for (subject, _) in &counted.tries {
            give_back(db, subject).await?;
        }
        self.take(db, &counted.sign_ins, SIGN_INS).await?;
        match &counted.place {
            Some(place) => Ok(know_place(db, place).await?),
            None => Ok(()),
        }
    }

    /// Counts a try to change a user's password, until [`Self::knew_old_password`].
    ///
    /// # Errors
    /// As [`Self::count`].
    pub(crate) async fn count_old_password(
        &self,
        db: &SubmitDb,
        user: UserId,
    ) -> Result<(), IdentityError> {
        self.take(db, &self.of_old_password(user), OLD_PASSWORDS).await
    }

    /// The old password was right.
    ///
    /// # Errors
    /// What the database said.
    pub(crate) async fn knew_old_password(
        &self,
        db: &SubmitDb,
        user: UserId,
    ) -> Result<(), IdentityError> {
        Ok(give_back(db, &self.of_old_password(user)).await?)
    }

    /// Counts a try to sign up.
    ///
    /// # Errors
    /// As [`Self::count`].
    pub(crate) async fn count_sign_up(
        &self,
        db: &SubmitDb,
        peer: Option<Peer>,
    ) -> Result<(), IdentityError> {
        let peer = peer.map(|peer| peer.to_string()).unwrap_or_default();
        self.take(db, &self.subject(&["sign-up", &peer]), SIGN_UPS).await
    }

    async fn take(
        &self,
        db: &SubmitDb,
        subject: &Subject,
        limit: Limit,
    ) -> Result<(), IdentityError> {
        self.not_refused(subject, limit)?;
        match take(db, subject, limit.most, limit.window).await? {
            Attempt::Allowed => Ok(()),
            Attempt::Refused(wait) => {
                self.refused.remember(*subject, wait);
                Err(too_many(wait, limit))
            }
        }
    }

    fn not_refused(&self, subject: &Subject, limit: Limit) -> Result<(), IdentityError> {
        self.refused.wait(subject).map_or(Ok(()), |wait| Err(too_many(wait, limit)))
    }

    fn of_old_password(&self, user: UserId) -> Subject {
        self.subject(&["old-password", &user.to_string()])
    }

    fn subject(&self, parts: &[&str]) -> Subject {
        let mut mac = self.mac.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

fn too_many(wait: Duration, limit: Limit) -> IdentityError {
    IdentityError::TooManyAttempts { which: limit.which, wait }
}
