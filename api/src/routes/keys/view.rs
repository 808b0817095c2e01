//! A key as it is shown.

use crate::call::Call;
use crate::problem::Problem;
use api_types::{ApiKey, Extensible, KeyId, NewApiKey, Secret};
use secrecy::SecretString;
use store::key::KeyInfo;

/// The key of a record.
pub(in crate::routes) fn api_key(key: KeyInfo) -> ApiKey {
    ApiKey {
        id: key.id.into(),
        name: key.name,
        scopes: key.scopes.into_iter().map(Extensible::Known).collect(),
        user: key.user,
        created_at: key.created_at,
        expires_at: key.expires_at,
        last_used_at: key.last_used_at,
        replaced_by: key.replaced_by.map(KeyId::from),
    }
}

/// A new key, with its text, or for a repeated request without.
pub(in crate::routes) fn new_key(info: KeyInfo, text: Option<SecretString>) -> NewApiKey {
    NewApiKey { key: text.map(Secret::from), info: api_key(info) }
}

/// The key named in the path.
///
/// # Errors
/// `not_found` for what cannot be a key's id.
pub(super) fn id_in_path(call: &Call) -> Result<&str, Problem> {
    let id = call.request.part("id").unwrap_or_default();
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
