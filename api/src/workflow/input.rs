//! Puts the input of a run into its plan.

use crate::problem::{Code, FieldError, Problem};
use domain::workflow::Plan;
use serde_json::Value;

/// The plan with `input`, which stands at `base` in the body, wherever its nodes read it.
///
/// # Errors
/// `validation_failed`, with what the input does not have.
pub fn with_input(plan: Plan, input: &Value, base: &str) -> Result<Plan, Problem> {
    /// Mistakes that are named in one answer.
    const MOST: usize = 32;
    plan.with_input(input).map_err(|problems| {
        let errors = problems.into_iter().take(MOST).map(|problem| FieldError {
            detail: problem.to_string(),
            pointer: format!("{base}{}", problem.pointer),
        });
        Problem::with_errors(Code::ValidationFailed, errors.collect())
    })
}
