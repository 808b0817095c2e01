//! Whom commands run as.
//!
//! Under root a user of each attempt's own, so that other people's code can neither read this executor's settings nor
//! signal it, nor do so to each other; or one user for all, as the operator says. Otherwise ourselves: then commands
//! of all tenants share our user, and only what the kernel hides from a process of the same user is safe from them.

mod range;

use crate::sweep::{kill_pids, stop_found};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, User as SystemUser, fchown, geteuid};
use range::{UidRange, pids_of};
use runtime::config::{ExecutorConfig, RunAsUids};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// With this one `executor.run_as_uids` decides for itself: it owns nothing that commands could need.
const DEFAULT_USER: &str = "nobody";
/// The numbers of "auto": systemd leaves them to nobody, and no system gives them to people.
const DEFAULT_UIDS: (u32, u32) = (2_000_000_000, 2_000_065_535);
/// Rounds of killing, each followed by a pause of 10 ms.
const ROUNDS: u32 = 500;

/// `executor.run_as_user` or `executor.run_as_uids` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The system knows no such user.
    #[error("`executor.run_as_user` is `{0}`, which is no user of this system")]
    Unknown(String),
    /// The system's users cannot be read.
    #[error("the user `{user}` of `executor.run_as_user` cannot be looked up")]
    System {
        /// As configured.
        user: String,
        /// Why.
        #[source]
        source: Errno,
    },
    /// The user ids are not ours to use.
    #[error(
        "`executor.run_as_uids` cannot be used: {why}. Name another range, or set it to \"auto\" or \"none\""
    )]
    Range {
        /// For people.
        why: String,
    },
}

/// A user to run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// User.
    pub(crate) uid: u32,
    /// Its primary group; it gets no other.
    pub(crate) gid: u32,
}

impl Identity {
    /// Gives it an open file.
    pub(crate) fn own(self, file: impl AsFd) -> io::Result<()> {
        fchown(file, Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid)))?;
        Ok(())
    }
}

/// Gives each attempt its user; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Users(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    /// Ours.
    Ourselves,
    /// The same for all.
    One(Identity),
    /// One of its own for each.
    Own(UidRange),
}

/// The user of one attempt. One of its own is free for another when this is dropped.
#[derive(Debug)]
pub(crate) struct User {
    identity: Option<Identity>,
    own: Option<u32>,
    users: Users,
}

impl Users {
    /// As configured; and why not one for each attempt, where that was wanted and cannot be.
    pub(crate) fn of(config: &ExecutorConfig) -> Result<(Self, Option<String>), IdentityError> {
        let one = identity(&config.run_as_user)?;
        let Some(one) = one else { return Ok((Self(Arc::new(Kind::Ourselves)), None)) };
        let shared = || Self(Arc::new(Kind::One(one)));
        let own = |(first, last)| {
            UidRange::open(first, last).map(|range| Self(Arc::new(Kind::Own(range))))
        };
        match config.run_as_uids {
            RunAsUids::None => Ok((shared(), None)),
            RunAsUids::Auto if config.run_as_user != DEFAULT_USER => Ok((shared(), None)),
            RunAsUids::Auto => Ok(match own(DEFAULT_UIDS) {
                Ok(users) => (users, None),
                Err(why) => (shared(), Some(format!("attempts share a user: {why}"))),
            }),
            RunAsUids::Range { first, last } => own((first, last))
                .map(|users| (users, None))
                .map_err(|why| IdentityError::Range { why }),
        }
    }

    /// Whether each attempt has one of its own.
    pub(crate) fn are_own(&self) -> bool {
        matches!(*self.0, Kind::Own(_))
    }

    /// Whether commands run as this executor's own user.
    pub(crate) fn are_ourselves(&self) -> bool {
        matches!(*self.0, Kind::Ourselves)
    }

    /// One for an attempt. Blocks for a moment.
    pub(crate) fn claim(&self) -> io::Result<User> {
        let (identity, own) = match &*self.0 {
            Kind::Ourselves => (None, None),
            Kind::One(identity) => (Some(*identity), None),
            Kind::Own(range) => {
                let uid = range.claim()?;
                (Some(Identity { uid, gid: uid }), Some(uid))
            }
        };
        Ok(User { identity, own, users: self.clone() })
    }
}

impl User {
    /// None: whoever we are.
    pub(crate) const fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// Whether no other running attempt has it.
    pub(crate) const fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Kills what is left of an attempt's own user. One that cannot be freed of its processes is not used again. Blocks.
    pub(crate) fn kill_all(&mut self) {
        let Some(uid) = self.own else { return };
        for _ in 0..ROUNDS {
            let found = stop_found(|| pids_of(uid));
            if found.is_empty() {
                return;
            }
            kill_pids(found, Signal::SIGKILL);
            std::thread::sleep(Duration::from_millis(10));
        }
        tracing::error!(uid, "Processes of the user {uid} cannot be killed");
        self.own = None;
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let (Some(uid), Kind::Own(range)) = (self.own, &*self.users.0) {
            range.release(uid);
        }
    }
}

/// The user named or numbered `run_as_user`; none when commands run as we do.
fn identity(run_as_user: &str) -> Result<Option<Identity>, IdentityError> {
    if !geteuid().is_root() {
        // Other processes of this user must not read our memory or environment, which hold the secret.
        prctl::set_dumpable(false).ok();
        return Ok(None);
    }
    if run_as_user.is_empty() {
        tracing::warn!("Commands run as root, because `executor.run_as_user` is empty");
        return Ok(None);
    }
    let found = match run_as_user.parse() {
        Ok(uid) => SystemUser::from_uid(Uid::from_raw(uid)),
        Err(_) => SystemUser::from_name(run_as_user),
    };
    match found {
        Ok(Some(user)) => Ok(Some(Identity { uid: user.uid.as_raw(), gid: user.gid.as_raw() })),
        Ok(None) => Err(IdentityError::Unknown(run_as_user.to_owned())),
        Err(source) => Err(IdentityError::System { user: run_as_user.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_root_a_user_is_found_by_name_and_by_number() {
        if geteuid().is_root() {
            let nobody = identity("nobody").unwrap().unwrap();
            assert_eq!(identity(&nobody.uid.to_string()).unwrap(), Some(nobody));
            assert!(matches!(identity("no-such-user"), Err(IdentityError::Unknown(_))));
        }
    }
}
