//! Plans.

use domain::id::PlanName;
use domain::plan::PlanLimits;
use domain::time::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "PlanFields")]
pub struct Plan {
    /// Its name.
    pub name: PlanName,
    /// Version, from 1; counts changes.
    pub version: i64,
    /// Its limits.
    pub limits: PlanLimits,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A plan that was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeletedPlan {
    /// Its name.
    pub name: PlanName,
}

/// The fields as the API has them, side by side.
#[derive(Deserialize)]
struct PlanFields {
    name: PlanName,
    version: i64,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(flatten)]
    limits: Map<String, Value>,
}

impl TryFrom<PlanFields> for Plan {
    type Error = serde_json::Error;

    fn try_from(plan: PlanFields) -> Result<Self, Self::Error> {
        let PlanFields { name, version, created_at, updated_at, limits } = plan;
        // As a stored one: a server of a later release may have limits that this one does not know.
        let limits = PlanLimits::from_stored(&Value::Object(limits).to_string())?;
        Ok(Self { name, version, limits, created_at, updated_at })
    }
}
