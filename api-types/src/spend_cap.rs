//! `/v1/spend-caps`: what tasks may cost in a day or a month.

use crate::DateTime;
use domain::id::SpendCapName;
use domain::price::{Currency, Micros};
use domain::spend::CapPeriod;
use serde::{Deserialize, Serialize};

/// A label and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabelIs {
    /// The label.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// A spend cap to store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendCapPut {
    /// The most that tasks may cost in a period: micro-units, millionths of the currency's unit.
    #[cfg_attr(feature = "openapi", schema(value_type = i64, minimum = 0, maximum = 1_000_000_000_000_000_i64))]
    pub amount: Micros,
    /// Code of ISO 4217: the currency in which you are billed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "EUR", min_length = 3, max_length = 3))]
    pub currency: Currency,
    /// How long a period is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::CapPeriod))]
    pub period: CapPeriod,
    /// Time zone in which periods begin. Default: `UTC`.
    #[serde(default = "utc")]
    #[cfg_attr(feature = "openapi", schema(required = false, example = "Europe/Berlin"))]
    pub zone: String,
    /// Only tasks with this label; not together with `schedule`. Default: all tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<LabelIs>,
    /// Only tasks of the schedule of this name, and of the runs that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// A spend cap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendCap {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: SpendCapName,
    /// Version, from 1; counts changes.
    pub version: i64,
    /// The most that tasks may cost in a period, micro-units.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub amount: Micros,
    /// Code of ISO 4217.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "EUR"))]
    pub currency: Currency,
    /// How long a period is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::CapPeriod))]
    pub period: CapPeriod,
    /// Time zone in which periods begin.
    pub zone: String,
    /// Only tasks with this label; null: any.
    pub label: Option<LabelIs>,
    /// Only tasks of the schedule of this name; null: any.
    pub schedule: Option<String>,
    /// When the present period began.
    pub period_start: DateTime,
    /// When the next one begins.
    pub resets_at: DateTime,
    /// What tasks have cost that ended in this period, micro-units.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub spent: Micros,
    /// The most that tasks can cost that have not ended, micro-units.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub reserved: Micros,
    /// What is left for new tasks, micro-units; negative where the cap was lowered below what is used.
    #[cfg_attr(feature = "openapi", schema(value_type = i64))]
    pub free: Micros,
    /// Shares of the amount that were used up in this period.
    pub alerts: Vec<SpendAlert>,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
}

/// A share of a spend cap that was used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendAlert {
    /// Percent of the amount: 50, 80 or 100.
    pub percent: u8,
    /// When that was seen first.
    pub at: DateTime,
}

/// A deleted spend cap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedSpendCap {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: SpendCapName,
    /// True.
    pub deleted: bool,
}
