//! Operators and their keys.

use crate::{DateTime, Extensible, KeyId, Secret};
use domain::access::OperatorScope;
use serde::{Deserialize, Serialize};

/// The operator of the key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Operator {
    /// The public part of the key.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: KeyId,
    /// Name of the key.
    pub name: String,
    /// `read` and `admin`; neither includes the other.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub scopes: Vec<Extensible<OperatorScope>>,
    /// Expiry; null: never.
    pub expires_at: Option<DateTime>,
}

/// An operator key, without its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorKey {
    /// Id: the third part of the key.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: KeyId,
    /// Name of the operator.
    pub name: String,
    /// Scopes; neither includes the other.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::words::OperatorScope>))]
    pub scopes: Vec<Extensible<OperatorScope>>,
    /// When it was created.
    pub created_at: DateTime,
    /// Expiry; null: never.
    pub expires_at: Option<DateTime>,
    /// Last use, to within a minute; null: never.
    pub last_used_at: Option<DateTime>,
    /// The key that replaced it; both are valid until `expires_at`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub replaced_by: Option<KeyId>,
}

/// A new operator key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewOperatorKey {
    /// The whole key, shown once.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub key: Secret,
    /// The rest.
    #[serde(flatten)]
    pub info: OperatorKey,
}

/// Both keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RotatedOperatorKey {
    /// The new key.
    pub new: NewOperatorKey,
    /// The old key.
    pub old: OperatorKey,
}
