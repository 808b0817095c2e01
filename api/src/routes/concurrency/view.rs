//! A limit as it is shown, and how a key is named in a path.

use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::request::text_in_path;
use api_types::ConcurrencyLimit;
use domain::batch::{ConcurrencyKey, ParseConcurrencyKeyError};

/// The limit of a key for which nothing is stored.
pub(super) fn usual(key: &ConcurrencyKey) -> ConcurrencyLimit {
    let (key, running) = (key.as_str().to_owned(), ConcurrencyKey::USUAL_LIMIT);
    ConcurrencyLimit { key, running, stored: false, updated_at: None }
}

/// The limit of a record.
pub(super) fn stored(limit: &store::concurrency::ConcurrencyLimit) -> ConcurrencyLimit {
    ConcurrencyLimit {
        key: limit.key.as_str().to_owned(),
        running: limit.running,
        stored: true,
        updated_at: Some(limit.updated_at),
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
