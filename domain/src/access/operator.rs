//! Scopes of operator keys. Operators are not users of a tenant, and their keys work on no tenant route.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A scope of an operator key. None includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorScope {
    /// Read.
    Read,
    /// Change.
    Admin,
    /// Report what a canary saw.
    Report,
}

impl OperatorScope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Read, Self::Admin, Self::Report];

    /// Its name in JSON and SQL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Admin => "admin",
            Self::Report => "report",
        }
    }
}

impl fmt::Display for OperatorScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is not an operator scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected read, admin or report")]
pub struct ParseOperatorScopeError;

impl FromStr for OperatorScope {
    type Err = ParseOperatorScopeError;

    fn from_str(text: &str) -> Result<Self, ParseOperatorScopeError> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or(ParseOperatorScopeError)
    }
}
