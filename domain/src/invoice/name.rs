//! Numbers of invoices.

use crate::price::Currency;
use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// By what an invoice is named.
///
/// A final one has a number, `2030-01-0007`: the month, and how many invoices the tenant has had with this one, so that numbers have
/// no gaps. A draft has none yet, and is named after its month and currency, `2030-01-EUR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum InvoiceName {
    /// A draft.
    Draft {
        /// The first day of its month.
        month: NaiveDate,
        /// Its currency.
        currency: Currency,
    },
    /// Any other.
    Numbered {
        /// The first day of its month.
        month: NaiveDate,
        /// Its place among the tenant's invoices, from 1.
        sequence: u32,
    },
}

/// A text is no invoice's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no invoice: give a number such as 2030-01-0007, or 2030-01-EUR for a draft")]
pub struct ParseInvoiceNameError(String);

impl fmt::Display for InvoiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Draft { month, .. } | Self::Numbered { month, .. }) = self;
        write!(f, "{:04}-{:02}-", month.year(), month.month())?;
        match self {
            Self::Draft { currency, .. } => write!(f, "{currency}"),
            Self::Numbered { sequence, .. } => write!(f, "{sequence:04}"),
        }
    }
}

impl FromStr for InvoiceName {
    type Err = ParseInvoiceNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = || {
            let (month, rest) = text.split_at_checked(8)?;
            let month: NaiveDate = format!("{month}01").parse().ok()?;
            let name = match rest.parse() {
                Ok(currency) => Self::Draft { month, currency },
                Err(_) => Self::Numbered { month, sequence: rest.parse().ok()? },
            };
            // Only as it is written: no signs, no other number of zeros.
            Some(name).filter(|name| name.to_string() == text)
        };
        parsed().ok_or_else(|| ParseInvoiceNameError(text.chars().take(100).collect()))
    }
}

impl TryFrom<String> for InvoiceName {
    type Error = ParseInvoiceNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<InvoiceName> for String {
    fn from(name: InvoiceName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_in_no_other_way() {
        let month = NaiveDate::from_ymd_opt(2030, 1, 1).unwrap();
        for (text, name) in [
            ("2030-01-0007", InvoiceName::Numbered { month, sequence: 7 }),
            ("2030-01-12345", InvoiceName::Numbered { month, sequence: 12_345 }),
            ("2030-01-EUR", InvoiceName::Draft { month, currency: "EUR".parse().unwrap() }),
        ] {
            assert_eq!(text.parse(), Ok(name));
            assert_eq!(name.to_string(), text);
        }
        for text in [
            "",
            "2030-01-",
            "2030-13-0001",
            "2030-01-7",
            "2030-01-+007",
            "2030-1-0007",
            "2030-01-eur",
            "äääääääääää",
        ] {
            assert!(text.parse::<InvoiceName>().is_err(), "{text}");
        }
    }
}
