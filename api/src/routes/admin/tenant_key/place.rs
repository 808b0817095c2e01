//! The key of a tenant that a path names.

use crate::call::OperatorCall;
use crate::problem::Problem;
use crate::routes::keys::view::{is_key_id, no_such_key};

/// The key named in the path.
pub(super) fn key_in_path(call: &OperatorCall) -> Result<&str, Problem> {
    let id = call.request.part("key_id").unwrap_or_default();
    if is_key_id(id) { Ok(id) } else { Err(no_such_key()) }
}
