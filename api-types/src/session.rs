//! Sign-ins, and the owner of a credential.

use crate::{DateTime, Extensible, KeyId, Secret};
use domain::access::{Permission, Role, Scope};
use domain::id::{SignInId, TenantId, UserId};
use domain::tenant::TenantState;
use serde::{Deserialize, Serialize};

/// An access token and a refresh token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Session {
    /// Id of the sign-in.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: SignInId,
    /// The tenant.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// The user.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub user: UserId,
    /// For the header `Authorization: Bearer …`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub access_token: Secret,
    /// Always `Bearer`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub token_type: TokenType,
    /// Seconds until the access token expires.
    pub expires_in: u64,
    /// For `POST /v1/sessions/refresh`; works once.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub refresh_token: Secret,
}

/// How an access token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenType {
    /// In the header `Authorization: Bearer …`.
    Bearer,
}

/// The user who can now sign in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AcceptedUser {
    /// The tenant.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// Name of the tenant to sign in with; null: it has none.
    #[serde(default)]
    pub tenant_name: Option<String>,
    /// The user.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub user: UserId,
    /// E-mail address to sign in with.
    pub email: String,
}

/// An active sign-in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedIn {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: SignInId,
    /// When the password was given.
    pub created_at: DateTime,
    /// When it was last refreshed.
    pub refreshed_at: DateTime,
    /// When it expires unless refreshed.
    pub expires_at: DateTime,
    /// Whether it is the caller's.
    pub current: bool,
}

/// An ended sign-in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignedOut {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: SignInId,
}

/// Result of a password change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PasswordChanged {
    /// Sign-ins that were ended.
    pub ended_sessions: u64,
}

/// Owner and permissions of a credential.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhoAmI {
    /// The tenant.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// Its name.
    pub tenant_name: Option<String>,
    /// Its state: `active` or `suspended`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant_state: Extensible<TenantState>,
    /// The API key; null for a signed-in user.
    pub key: Option<OwnKey>,
    /// The signed-in user; null for an API key.
    pub user: Option<OwnUser>,
    /// Its permissions.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub permissions: Vec<Extensible<Permission>>,
}

/// The API key of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnKey {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: KeyId,
    /// Its name.
    pub name: String,
    /// Its scopes.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::openapi::words::Scope>))]
    pub scopes: Vec<Extensible<Scope>>,
    /// The user who created it; null if none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub user: Option<UserId>,
    /// Expiry; null: never.
    pub expires_at: Option<DateTime>,
}

/// The user of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnUser {
    /// The user's id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: UserId,
    /// E-mail address to sign in with.
    pub email: String,
    /// Role of the user.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Extensible<Role>,
}
