//! A key as it is shown.

use crate::call::Call;
use crate::problem::Problem;
use domain::access::Scope;
use domain::id::UserId;
use domain::time::Timestamp;
use serde::Serialize;
use store::key::KeyInfo;
use utoipa::ToSchema;

/// An API key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub struct KeyView<'a> {
    /// Id: the third part of the key.
    id: &'a str,
    /// What it is called.
    name: &'a str,
    /// Scopes; none includes another.
    #[schema(value_type = Vec<super::super::super::openapi::words::Scope>)]
    scopes: &'a [Scope],
    /// The user who created it, directly or through a key; null if none. It is revoked with the user.
    #[schema(value_type = Option<String>)]
    user: Option<UserId>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Expiry; null: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// Last use, to within a minute; null: never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// The key that replaced it; both are valid until `expires_at`.
    replaced_by: Option<&'a str>,
}

impl<'a> From<&'a KeyInfo> for KeyView<'a> {
    fn from(key: &'a KeyInfo) -> Self {
        Self {
            id: &key.id,
            name: &key.name,
            scopes: &key.scopes,
            user: key.user,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            replaced_by: key.replaced_by.as_deref(),
        }
    }
}

/// A new key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewApiKey)]
pub struct NewKeyView<'a> {
    /// The whole key, shown once. Null in a repeated response: the key exists, but its text is only in the first response.
    #[schema(required)]
    key: Option<&'a str>,
    /// The rest.
    #[serde(flatten)]
    info: KeyView<'a>,
}

impl<'a> NewKeyView<'a> {
    /// With its text, or for a repeated request without.
    pub fn new(info: &'a KeyInfo, key: Option<&'a str>) -> Self {
        Self { key, info: info.into() }
    }
}

/// The key named in the path.
///
/// # Errors
/// `not_found` for what cannot be a key's id.
pub(super) fn id_in_path(call: &Call) -> Result<&str, Problem> {
    let id = call.request.match_info().get("id").unwrap_or_default();
    if is_key_id(id) { Ok(id) } else { Err(no_such_key()) }
}

/// Whether a key may have this id.
pub(in crate::routes) fn is_key_id(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b);
    id.len() == 12 && id.bytes().all(plain)
}

/// "Not found", in the same words for a foreign, an unknown, a revoked and a malformed one.
pub(in crate::routes) fn no_such_key() -> Problem {
    Problem::no_such("key")
}
