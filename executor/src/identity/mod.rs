//! Whom commands run as.
//!
//! Under root another user, so that other people's code can neither read this executor's settings nor
//! signal it. Otherwise ourselves: then commands of all tenants share our user, and only what the
//! kernel hides from a process of the same user is safe from them.

use crate::supervise::Identity;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{Uid, User, geteuid};

/// `executor.run_as_user` cannot be used.
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
}

/// The user named or numbered `run_as_user`; none when commands run as we do.
pub(crate) fn identity(run_as_user: &str) -> Result<Option<Identity>, IdentityError> {
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
        Ok(uid) => User::from_uid(Uid::from_raw(uid)),
        Err(_) => User::from_name(run_as_user),
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
