//! A response of the API: the value and its JSON.
//!
//! The JSON is kept so that it can be printed for programs, with fields that this version does not know.

use bytes::Bytes;
use std::ops::Deref;

/// A value from the API; dereferences to it.
#[derive(Debug, Clone)]
pub struct ApiResponse<T> {
    value: T,
    json: Bytes,
    replayed: bool,
}

impl<T> ApiResponse<T> {
    pub(crate) fn new(value: T, json: Bytes, replayed: bool) -> Self {
        Self { value, json, replayed }
    }

    /// The value alone.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// The body as it was received.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Whether this repeats the response to an earlier write with the same idempotency key.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.replayed
    }
}

impl<T> Deref for ApiResponse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
