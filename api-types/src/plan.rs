//! Plans, as operators see them.

use crate::DateTime;
use domain::id::PlanName;
use domain::plan::PlanLimits;
use domain::price::Billing;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A plan, its limits beside its name; its schema is made from the table of limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PlanFields")]
pub struct Plan {
    /// Its name.
    pub name: PlanName,
    /// Version, from 1; counts changes.
    pub version: i64,
    /// Its limits.
    #[serde(flatten)]
    pub limits: PlanLimits,
    /// By which prices it is billed; null: what is used costs nothing.
    pub billing: Option<Billing>,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
}

/// The fields as they are received.
#[derive(Deserialize)]
struct PlanFields {
    name: PlanName,
    version: i64,
    #[serde(default)]
    billing: Option<Billing>,
    created_at: DateTime,
    updated_at: DateTime,
    #[serde(flatten)]
    limits: Map<String, Value>,
}

impl TryFrom<PlanFields> for Plan {
    type Error = serde_json::Error;

    fn try_from(plan: PlanFields) -> Result<Self, Self::Error> {
        let PlanFields { name, version, billing, created_at, updated_at, limits } = plan;
        // As a stored one: a server of a later release may have limits that this one does not know.
        let limits = PlanLimits::from_stored(&Value::Object(limits).to_string())?;
        Ok(Self { name, version, limits, billing, created_at, updated_at })
    }
}

/// A deleted plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedPlan {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: PlanName,
    /// True.
    pub deleted: bool,
}
