//! A limit as it is shown, and how a key is named in a path.

use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::request::text_in_path;
use domain::batch::{ConcurrencyKey, ParseConcurrencyKeyError};
use domain::time::Timestamp;
use serde::Serialize;
use store::concurrency::ConcurrencyLimit;
use utoipa::ToSchema;

/// Concurrency limit of a key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConcurrencyLimit)]
pub struct KeyLimitView<'a> {
    /// The key.
    key: &'a str,
    /// Tasks queued, running or cancelling; 0: none starts.
    running: u32,
    /// False: no limit is stored, so it is 1.
    stored: bool,
    /// When it was last changed; null if none is stored.
    #[schema(value_type = Option<String>, format = DateTime)]
    updated_at: Option<Timestamp>,
}

/// Concurrency limit of a key and its use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConcurrencyUse)]
pub struct KeyUseView<'a> {
    /// The limit.
    #[serde(flatten)]
    pub(super) limit: KeyLimitView<'a>,
    /// Tasks queued, running or cancelling now; counted up to 10000.
    pub(super) held: u64,
}

impl<'a> KeyLimitView<'a> {
    /// Of a key for which nothing is stored.
    pub(super) fn usual(key: &'a ConcurrencyKey) -> Self {
        let running = ConcurrencyKey::USUAL_LIMIT;
        Self { key: key.as_str(), running, stored: false, updated_at: None }
    }
}

impl<'a> From<&'a ConcurrencyLimit> for KeyLimitView<'a> {
    fn from(limit: &'a ConcurrencyLimit) -> Self {
        Self {
            key: limit.key.as_str(),
            running: limit.running,
            stored: true,
            updated_at: Some(limit.updated_at),
        }
    }
}

/// The key named in the path.
///
/// # Errors
/// `invalid_parameter` for what can be none.
pub(super) fn key_in_path(call: &Call) -> Result<ConcurrencyKey, Problem> {
    let wrong = |detail: String| Problem::at(Code::InvalidParameter, "path:key", detail);
    let text = text_in_path(&call.request, "key");
    let text = text.ok_or_else(|| wrong("must be percent-encoded UTF-8".to_owned()))?;
    text.parse().map_err(|error: ParseConcurrencyKeyError| wrong(error.to_string()))
}
