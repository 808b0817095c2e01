//! The table of roles of users.

use super::{Permission, PermissionSet};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The role of a user. Each user has one.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything, with owners. A tenant keeps at least one owner.
    Owner,
    /// Everything except changes of owners.
    Admin,
    /// Tasks, and own API keys.
    Developer,
    /// Usage, limits and spend caps.
    Billing,
    /// Reads tasks and usage.
    Viewer,
}

impl Role {
    /// Every role, most permissions first.
    pub const ALL: [Self; 5] =
        [Self::Owner, Self::Admin, Self::Developer, Self::Billing, Self::Viewer];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The table, without permissions of every user.
    #[must_use]
    pub const fn permissions(self) -> PermissionSet {
        use Permission::{
            AllKeys, ApproveTasks, ManageOwners, ManageSpend, ManageUsers, ManageWebhooks, OwnKeys,
            ReadAudit, ReadTasks, ReadUsage, ReadUsers, SubmitTasks,
        };
        PermissionSet::of(match self {
            Self::Owner => &[
                ReadTasks,
                SubmitTasks,
                ApproveTasks,
                ReadUsage,
                ManageSpend,
                ManageWebhooks,
                OwnKeys,
                AllKeys,
                ReadUsers,
                ManageUsers,
                ManageOwners,
                ReadAudit,
            ],
            Self::Admin => &[
                ReadTasks,
                SubmitTasks,
                ApproveTasks,
                ReadUsage,
                ManageSpend,
                ManageWebhooks,
                OwnKeys,
                AllKeys,
                ReadUsers,
                ManageUsers,
                ReadAudit,
            ],
            Self::Developer => &[ReadTasks, SubmitTasks, ReadUsage, OwnKeys],
            Self::Billing => &[ReadUsage, ManageSpend],
            Self::Viewer => &[ReadTasks, ReadUsage],
        })
    }
}

/// A text is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected owner, admin, developer, billing or viewer")]
pub struct ParseRoleError;

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(ParseRoleError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_owners_may_do_everything_and_only_they_make_owners() {
        for role in Role::ALL {
            let may = role.permissions();
            assert_eq!(may.contains(Permission::ManageOwners), role == Role::Owner);
            assert_eq!(may.includes(Role::Owner.permissions()), role == Role::Owner);
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("root".parse::<Role>().is_err() && "Owner".parse::<Role>().is_err());
    }

    #[test]
    fn who_reads_only_changes_nothing() {
        for role in [Role::Billing, Role::Viewer] {
            for permission in [
                Permission::SubmitTasks,
                Permission::OwnKeys,
                Permission::AllKeys,
                Permission::ManageUsers,
                Permission::ManageOwners,
            ] {
                assert!(!role.permissions().contains(permission), "{role} {permission}");
            }
        }
        assert!(!Role::Billing.permissions().contains(Permission::ReadTasks));
        assert!(!Role::Developer.permissions().contains(Permission::AllKeys));
    }
}
