//! The key of what the dashboard has browsers keep, and of the links that sign in. The rule: all processes of an installation
//! have the same, derived from its secret.

use hmac::Mac;
use identity::key::KeyHasher;
use std::fmt;
use std::ops::Deref;

/// A key that shows nothing of itself.
pub(crate) struct CookieKey([u8; 32]);

impl CookieKey {
    /// That of the installation whose secret `hasher` has.
    pub(crate) fn of(hasher: &KeyHasher) -> Self {
        Self(hasher.derived_mac(b"dashboard/v1").finalize().into_bytes().into())
    }
}

impl fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieKey(..)")
    }
}

impl Deref for CookieKey {
    type Target = [u8; 32];

    fn deref(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The path, with its query, that signs a browser in to the dashboard with `credential`, an API key or an operator key: once, within
/// an hour, at an api that runs already. `None` without random bytes.
#[must_use]
pub fn sign_in_path(hasher: &KeyHasher, credential: &str) -> Option<String> {
    web::sign_in_path(&CookieKey::of(hasher), credential)
}
