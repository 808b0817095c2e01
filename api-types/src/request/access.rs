//! Users and their sign-ins.

use crate::Secret;
use domain::access::Role;
use serde::{Deserialize, Serialize};

/// A user to create.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserCreate {
    /// E-mail address; unique in the tenant. Stored in lower case.
    #[cfg_attr(feature = "openapi", schema(max_length = 254))]
    pub email: String,
    /// Role of the user.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Role,
    /// Password, 12 to 256 characters. Default: the user is invited to set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, min_length = 12, max_length = 256))]
    pub password: Option<Secret>,
}

/// A user to invite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserInvite {
    /// E-mail address; unique in the tenant. Stored in lower case.
    #[cfg_attr(feature = "openapi", schema(max_length = 254))]
    pub email: String,
    /// Role of the user.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Role,
}

/// A user, all of it but the address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserPut {
    /// Role of the user.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Role,
}

/// Changes of a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserChange {
    /// The new role.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Role))]
    pub role: Role,
}

/// Credentials of a user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignIn {
    /// The tenant's name.
    pub tenant: String,
    /// E-mail address of the user, case-insensitive.
    pub email: String,
    /// The password.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub password: Secret,
}

/// A new customer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SignUp {
    /// Name of the tenant, needed to sign in. Stored in Unicode NFKC with single spaces and without invisible
    /// characters. Unique, ignoring case.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub tenant: String,
    /// E-mail address of the owner. Stored in lower case.
    #[cfg_attr(feature = "openapi", schema(max_length = 254))]
    pub email: String,
    /// 12 to 256 characters, any of them.
    #[cfg_attr(feature = "openapi", schema(value_type = String, min_length = 12, max_length = 256))]
    pub password: Secret,
}

/// Refresh token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionRefresh {
    /// The refresh token.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub refresh_token: Secret,
}

/// Invitation token and new password.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvitationAccept {
    /// The one-time token.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub token: Secret,
    /// 12 to 256 characters, any of them.
    #[cfg_attr(feature = "openapi", schema(value_type = String, min_length = 12, max_length = 256))]
    pub password: Secret,
}

/// Old and new password.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PasswordChange {
    /// Current password.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub old_password: Secret,
    /// 12 to 256 characters, any of them.
    #[cfg_attr(feature = "openapi", schema(value_type = String, min_length = 12, max_length = 256))]
    pub password: Secret,
}
