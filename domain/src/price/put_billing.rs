//! How a plan that is to be stored is billed.

use super::Billing;
use serde::{Deserialize, Deserializer, Serialize};

/// By which prices a plan is billed that is to be stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PutBilling {
    /// As before; a new plan by none. Not sent: whoever does not know of prices changes none.
    #[default]
    Kept,
    /// By these, or none.
    Is(Option<Billing>),
}

impl PutBilling {
    /// Whether it was not sent.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        matches!(self, Self::Kept)
    }

    /// How the plan is billed that was billed by `before`.
    #[must_use]
    pub fn after(&self, before: Option<&Billing>) -> Option<Billing> {
        match self {
            Self::Kept => before.cloned(),
            Self::Is(billing) => billing.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for PutBilling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Is)
    }
}
