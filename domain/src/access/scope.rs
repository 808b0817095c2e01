//! The table of scopes of API keys.
//!
//! No scope includes another: a key that may only submit cannot read what others submitted.

use super::{Permission, PermissionSet};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A scope of an API key.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read tasks, attempts, logs and usage.
    Read,
    /// Submit tasks and act on them.
    Submit,
    /// Approve and reject what nodes of workflows wait for.
    Approve,
    /// Manage the tenant itself: keys, users, limits, spend caps, webhooks.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Read, Self::Submit, Self::Approve, Self::Admin];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The table. No key manages owners.
    #[must_use]
    pub const fn permissions(self) -> PermissionSet {
        use Permission::{
            AllKeys, ApproveTasks, ManageSpend, ManageUsers, ManageWebhooks, OwnKeys, ReadAudit,
            ReadTasks, ReadUsage, ReadUsers, SubmitTasks,
        };
        PermissionSet::of(match self {
            Self::Read => &[ReadTasks, ReadUsage],
            Self::Submit => &[SubmitTasks],
            Self::Approve => &[ApproveTasks],
            Self::Admin => {
                &[OwnKeys, AllKeys, ReadUsers, ManageUsers, ManageSpend, ManageWebhooks, ReadAudit]
            }
        })
    }
}

/// A text is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected read, submit, approve or admin")]
pub struct ParseScopeError;

impl FromStr for Scope {
    type Err = ParseScopeError;

    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(ParseScopeError)
    }
}

/// The scopes of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet(u8);

impl ScopeSet {
    /// Parses stored names; an unknown one grants nothing.
    #[must_use]
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Self {
        let known = names.iter().filter_map(|name| name.as_ref().parse::<Scope>().ok());
        Self(known.fold(0, |bits, scope| bits | Self::bit(scope)))
    }

    /// Whether the scopes grant this.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & Self::bit(scope) != 0
    }

    /// The scopes that a holder of `permissions` may grant.
    #[must_use]
    pub fn within(permissions: PermissionSet) -> Self {
        let given = Scope::ALL.into_iter().filter(|s| permissions.includes(s.permissions()));
        Self(given.fold(0, |bits, scope| bits | Self::bit(scope)))
    }

    /// Iterates over the scopes.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// The permissions of all scopes.
    #[must_use]
    pub fn permissions(self) -> PermissionSet {
        self.iter().fold(PermissionSet::NONE, |all, scope| all.with(scope.permissions()))
    }

    const fn bit(scope: Scope) -> u8 {
        match scope {
            Scope::Read => 1,
            Scope::Submit => 2,
            Scope::Admin => 4,
            Scope::Approve => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_grants_itself_and_nothing_else() {
        for granted in Scope::ALL {
            let set = ScopeSet::from_names(&[granted.as_str()]);
            for asked in Scope::ALL {
                assert_eq!(set.contains(asked), asked == granted);
            }
        }
    }

    #[test]
    fn no_two_scopes_allow_the_same_and_none_makes_owners() {
        for permission in Permission::ALL {
            let held = Scope::ALL.iter().filter(|s| s.permissions().contains(permission)).count();
            let nobodys = [Permission::ManageOwners, Permission::OwnSignIns];
            let everybodys = PermissionSet::OF_EVERYBODY.contains(permission);
            let one = !nobodys.contains(&permission) && !everybodys;
            assert_eq!(held, usize::from(one), "{permission}");
        }
        let all = ScopeSet::from_names(&["read", "submit", "approve", "admin"]);
        assert_eq!(all.permissions(), super::super::Role::Admin.permissions());
        assert_eq!(ScopeSet::default().permissions(), PermissionSet::NONE);
    }

    #[test]
    fn a_role_gives_only_what_it_holds() {
        use super::super::Role;
        let given = |role: Role| ScopeSet::within(role.permissions()).iter().collect::<Vec<_>>();
        assert_eq!(given(Role::Owner), Scope::ALL);
        assert_eq!(given(Role::Admin), Scope::ALL);
        assert_eq!(given(Role::Developer), [Scope::Read, Scope::Submit]);
        assert_eq!(given(Role::Billing), []);
        assert_eq!(given(Role::Viewer), [Scope::Read]);
        let submit = ScopeSet::from_names(&["submit"]);
        assert_eq!(ScopeSet::within(submit.permissions()), submit);
    }

    #[test]
    fn an_unknown_scope_grants_nothing() {
        assert_eq!(ScopeSet::from_names(&["root", "*", ""]), ScopeSet::default());
    }
}
