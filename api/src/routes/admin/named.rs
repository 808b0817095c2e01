//! Objects that operators store under a name: how one is named in a path, and what is said of its version.

use crate::call::OperatorCall;
use crate::problem::{Code, Problem};
use domain::id::ParseNameError;
use std::str::FromStr;

/// The name in the path.
///
/// # Errors
/// `invalid_parameter` for what is no name.
pub(super) fn name_of<T: FromStr<Err = ParseNameError>>(call: &OperatorCall) -> Result<T, Problem> {
    let text = call.request.part("name").unwrap_or_default();
    text.parse().map_err(|error: ParseNameError| {
        Problem::at(Code::InvalidParameter, "path:name", error.to_string())
    })
}

/// It is in another version than was asked for.
pub(super) fn mismatch(noun: &str, version: Option<i64>) -> Problem {
    let detail = match version {
        Some(version) => format!("The {noun} has version {version}."),
        None => format!("The {noun} does not exist."),
    };
    Problem::new(Code::VersionMismatch, detail)
}
