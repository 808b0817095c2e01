//! A tenant's standing: may it submit, does its work run, is it there at all.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How a tenant stands with the platform.
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
pub enum TenantState {
    /// Everything works.
    Active,
    /// Reads work; nothing is submitted or handed out. What runs may end.
    Suspended,
    /// Nothing works. Its work is cancelled, and its data purged after a grace.
    Deleted,
}

impl TenantState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Deleted];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether its tasks may start.
    #[must_use]
    pub const fn may_run(self) -> bool {
        matches!(self, Self::Active)
    }
}

/// A text is no state of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected active, suspended or deleted")]
pub struct ParseTenantStateError;

impl FromStr for TenantState {
    type Err = ParseTenantStateError;

    fn from_str(text: &str) -> Result<Self, ParseTenantStateError> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(ParseTenantStateError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_read_as_it_is_written() {
        for state in TenantState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        assert!("Active".parse::<TenantState>().is_err());
    }
}
