//! How an invoice stands, and what may become of it.

use serde::{Deserialize, Serialize};

/// How an invoice stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum InvoiceState {
    /// Computed whenever it is asked for, until its month is over and counted.
    Draft,
    /// It is due, and never changes.
    Final,
    /// It was paid.
    Paid,
    /// Nothing is owed of it; what it credited is credited again.
    Void,
}

/// What is done with an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum InvoiceMove {
    /// Its month is over and counted.
    Finalize,
    /// It was paid.
    Pay,
    /// It was in error.
    Void,
}

impl InvoiceState {
    /// Every state.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The state after a move; `None`: the move is not possible.
    #[must_use]
    pub const fn after(self, change: InvoiceMove) -> Option<Self> {
        match (self, change) {
            (Self::Draft, InvoiceMove::Finalize) => Some(Self::Final),
            (Self::Final, InvoiceMove::Pay) => Some(Self::Paid),
            (Self::Final, InvoiceMove::Void) => Some(Self::Void),
            (Self::Draft | Self::Paid | Self::Void, InvoiceMove::Pay | InvoiceMove::Void)
            | (Self::Final | Self::Paid | Self::Void, InvoiceMove::Finalize) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn an_invoice_goes_from_draft_to_final_to_paid_or_void_and_no_other_way() {
        let mut moves = Vec::new();
        for state in InvoiceState::ALL {
            for change in InvoiceMove::VARIANTS {
                if let Some(after) = state.after(*change) {
                    moves.push(format!("{state} {change} {after}"));
                }
            }
        }
        assert_eq!(moves, ["draft finalize final", "final pay paid", "final void void"]);
    }
}
