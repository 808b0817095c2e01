//! Keys, and limits of concurrency keys.

use super::Given;
use domain::access::{OperatorScope, Scope};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A key to create.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKeyCreate {
    /// Name; need not be unique.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub name: String,
    /// Scopes; none includes another.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::words::Scope>, min_items = 1))]
    pub scopes: Vec<Scope>,
    /// Lifetime, such as `"2160h"`, from 1 s to 87600 h. Default: no expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_in: Option<Given<Duration>>,
}

/// Options of a rotation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ApiKeyRotate {
    /// Time for which the old key stays valid, `"0s"` to `"720h"`. Default: `"24h"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub overlap: Option<Given<Duration>>,
}

/// An operator key to create.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorKeyCreate {
    /// Name of the operator; unique among keys that are neither revoked nor replaced.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub name: String,
    /// Scopes; neither includes the other.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::words::OperatorScope>, min_items = 1))]
    pub scopes: Vec<OperatorScope>,
    /// Lifetime, such as `"2160h"`, from 1 s to 87600 h. Default: no expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub expires_in: Option<Given<Duration>>,
}

/// Limit of a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConcurrencyLimitPut {
    /// Tasks queued, running or cancelling; 0: none starts.
    #[cfg_attr(feature = "openapi", schema(maximum = 1_000_000))]
    pub running: u32,
}
