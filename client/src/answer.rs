//! An answer of the API: the value, and the JSON it came as.
//!
//! The JSON is kept because whoever prints it for programs must print what the API said, fields that this version does
//! not know included.

use bytes::Bytes;
use std::ops::Deref;

/// A value from the API. Use it like the value itself.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    value: T,
    json: Bytes,
    replayed: bool,
}

impl<T> Answer<T> {
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

    /// True when this is the answer to an earlier write with the same idempotency key: nothing new was done.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.replayed
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
