//! Checks a definition without a server, as `berth workflow check` and `berth apply` do.

use super::check::{Checked, check};
use crate::problem::Problem;
use crate::task::{Links, OfflineRules};

/// Checks the definition `text` as JSON; each of its tasks has at most `most_bytes`.
///
/// # Errors
/// What is wrong with it.
pub fn check_offline(
    text: &[u8],
    rules: &OfflineRules<'_>,
    most_bytes: usize,
) -> Result<Checked, Problem> {
    let links = Links::None("is not allowed in a workflow; use `after` of the node");
    rules.apply(text, links, |rules, origin| check(text, "", (rules, most_bytes), &origin))
}
