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
    /// The public part: the third part of the key's text.
    id: &'a str,
    /// What it is called.
    name: &'a str,
    /// What it may do; no scope includes another.
    #[schema(value_type = Vec<super::super::super::openapi::words::Scope>)]
    scopes: &'a [Scope],
    /// The user who made it, or made the key that did; null where there is none. It goes when the user goes.
    #[schema(value_type = Option<String>)]
    user: Option<UserId>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it ends by itself, or has ended; null when never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// When it was last used, to within a minute; null when never.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// The key that was made in its place; until `expires_at` both are good.
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

/// A key that was just made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewApiKey)]
pub struct NewKeyView<'a> {
    /// The whole key, shown this once. Null when a request is repeated: then the key was made before, and its text is lost
    /// unless the first answer arrived.
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
    let plain = |b: u8| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b);
    if id.len() == 12 && id.bytes().all(plain) { Ok(id) } else { Err(no_such_key()) }
}

/// "Not found", in the same words for a foreign, an unknown, a revoked and a malformed one.
pub(super) fn no_such_key() -> Problem {
    Problem::no_such("key")
}
