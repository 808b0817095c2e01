//! Permissions of routes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A permission within a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Read tasks, attempts, logs, schedules and concurrency limits.
    ReadTasks,
    /// Submit tasks and act on them, and have schedules do so; set concurrency limits.
    SubmitTasks,
    /// Approve and reject what nodes of workflows wait for.
    ApproveTasks,
    /// Read usage and limits.
    ReadUsage,
    /// Store and delete spend caps.
    ManageSpend,
    /// Store, read and delete webhooks, which receive all events.
    ManageWebhooks,
    /// Create, rotate and revoke the caller's own API keys.
    OwnKeys,
    /// The same for every API key of the tenant.
    AllKeys,
    /// Read users.
    ReadUsers,
    /// Invite users, change their roles and remove them.
    ManageUsers,
    /// The same for owners.
    ManageOwners,
    /// Read the audit log.
    ReadAudit,
    /// List own sign-ins, sign out, change the own password. Every user has it; no key, role or scope grants it.
    OwnSignIns,
    /// Read the own identity. Every valid credential has it; no role or scope grants it.
    ReadSelf,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 14] = [
        Self::ReadTasks,
        Self::SubmitTasks,
        Self::ApproveTasks,
        Self::ReadUsage,
        Self::ManageSpend,
        Self::ManageWebhooks,
        Self::OwnKeys,
        Self::AllKeys,
        Self::ReadUsers,
        Self::ManageUsers,
        Self::ManageOwners,
        Self::ReadAudit,
        Self::OwnSignIns,
        Self::ReadSelf,
    ];

    /// Its name, in documents and refusals.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadTasks => "tasks.read",
            Self::SubmitTasks => "tasks.submit",
            Self::ApproveTasks => "tasks.approve",
            Self::ReadUsage => "usage.read",
            Self::ManageSpend => "spend.manage",
            Self::ManageWebhooks => "webhooks.manage",
            Self::OwnKeys => "keys.own",
            Self::AllKeys => "keys.all",
            Self::ReadUsers => "users.read",
            Self::ManageUsers => "users.manage",
            Self::ManageOwners => "owners.manage",
            Self::ReadAudit => "audit.read",
            Self::OwnSignIns => "sessions.own",
            Self::ReadSelf => "self.read",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|permission| permission.as_str() == text);
        found.ok_or_else(|| serde::de::Error::custom("expected a permission"))
    }
}

/// A set of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PermissionSet(u16);

impl PermissionSet {
    /// None.
    pub const NONE: Self = Self(0);
    /// Permissions of every user.
    pub const OF_EVERY_USER: Self = Self::of(&[Permission::OwnSignIns]);
    /// Permissions of every valid credential.
    pub const OF_EVERYBODY: Self = Self::of(&[Permission::ReadSelf]);

    /// These.
    #[must_use]
    pub const fn of(permissions: &[Permission]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < permissions.len() {
            bits |= permissions[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// The union.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains it.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Whether the set contains all of `other`, which may then be granted.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_made_of_and_nothing_else() {
        for one in Permission::ALL {
            let set = PermissionSet::of(&[one]);
            for other in Permission::ALL {
                assert_eq!(set.contains(other), one == other);
                assert_eq!(set.includes(PermissionSet::of(&[other])), one == other);
                let both = set.with(PermissionSet::of(&[other]));
                assert!(both.contains(one) && both.contains(other) && both.includes(set));
            }
        }
        let all = PermissionSet::of(&Permission::ALL);
        assert!(Permission::ALL.iter().all(|one| all.contains(*one)));
        assert!(all.includes(PermissionSet::NONE) && !PermissionSet::NONE.includes(all));
    }
}
