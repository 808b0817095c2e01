//! Spend caps: what tasks may cost in a day or a month.

use crate::price::{Currency, Micros};
use serde::{Deserialize, Serialize};

/// Highest amount of a cap: a thousand million units.
pub const MOST_AMOUNT: Micros = Micros(1_000_000_000_000_000);
/// Shares of a cap that are warned of when they are used up, percent.
pub const ALERTS: [u8; 3] = [50, 80, 100];

/// A spend cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendCap {
    /// The most that its tasks may cost in a period.
    pub amount: Micros,
    /// Of the amount.
    pub currency: Currency,
    /// How long a period is.
    pub period: CapPeriod,
    /// The time zone in which periods begin, such as `Europe/Berlin`.
    pub zone: String,
    /// Which tasks are its.
    pub scope: CapScope,
}

/// How long a period of a cap is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::Display,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CapPeriod {
    /// From midnight to midnight.
    Day,
    /// A month of the calendar.
    Month,
}

/// Which tasks a cap is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapScope {
    /// All of the tenant.
    Tenant,
    /// Those with a label.
    Label {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
    },
    /// Those that a schedule of this name makes, and those of the runs that it starts.
    Schedule(String),
}

impl CapScope {
    /// Whether a task with these `labels`, which `schedule` makes, is one of them.
    pub fn has<'a>(
        &self,
        label: impl FnOnce(&str) -> Option<&'a str>,
        schedule: Option<&str>,
    ) -> bool {
        match self {
            Self::Tenant => true,
            Self::Label { key, value } => label(key) == Some(value),
            Self::Schedule(name) => schedule == Some(name),
        }
    }
}

/// Shares of its amount, of [`ALERTS`], that a cap has used up of which so much is free.
pub fn used_up(amount: Micros, free: Micros) -> impl Iterator<Item = u8> {
    let used = i128::from(amount.0) - i128::from(free.0);
    ALERTS.into_iter().filter(move |percent| {
        used > 0 && used * 100 >= i128::from(amount.0) * i128::from(*percent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_of_all_of_a_label_or_of_a_schedule() {
        let labels = |key: &str| (key == "team").then_some("ml");
        let label = |value: &str| CapScope::Label { key: "team".into(), value: value.into() };
        assert!(CapScope::Tenant.has(labels, None));
        assert!(label("ml").has(labels, None) && !label("web").has(labels, None));
        let nightly = CapScope::Schedule("nightly".into());
        assert!(nightly.has(labels, Some("nightly")) && !nightly.has(labels, Some("daily")));
        assert!(!nightly.has(labels, None));
    }

    #[test]
    fn a_share_is_used_up_from_its_last_micro_unit_on() {
        let used = |amount, free| used_up(Micros(amount), Micros(free)).collect::<Vec<_>>();
        assert!(used(100, 100).is_empty());
        assert!(used(100, 51).is_empty());
        assert_eq!(used(100, 50), [50]);
        assert_eq!(used(100, 20), [50, 80]);
        assert_eq!(used(100, 0), [50, 80, 100]);
        assert_eq!(used(100, -900), [50, 80, 100]);
        assert!(used(0, 0).is_empty(), "nothing of nothing is used");
        assert_eq!(used(3, 1), [50]);
        assert_eq!(used(i64::MAX, i64::MIN), [50, 80, 100]);
    }
}
