//! Which workflow a request is about.

use crate::call::Call;
use crate::problem::{Code, Problem};

/// Longest name.
const MAX_NAME: usize = 100;

/// The workflow named in the path.
///
/// # Errors
/// `invalid_parameter` for what can be none.
pub(super) fn name_in_path(call: &Call) -> Result<&str, Problem> {
    let name = call.request.part("name").unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(plain)
        && name.as_bytes()[0].is_ascii_alphanumeric();
    if is_name {
        return Ok(name);
    }
    let detail =
        format!("must have 1 to {MAX_NAME} of a-z A-Z 0-9 _ . -, and begin with a letter or digit");
    Err(Problem::at(Code::InvalidParameter, "path:name", detail))
}

/// "Not found", in the same words for a foreign, an unknown and a deleted one.
pub(in crate::routes) fn no_such_workflow() -> Problem {
    Problem::no_such("workflow")
}
