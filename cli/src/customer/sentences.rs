//! An explanation in words, for a terminal: what customers wrote in it cannot move the cursor.

use crate::output::cell;
use client::{Explanation, Extensible};
use domain::explain::Reason;

pub(super) use client::sentences::{ahead, starts};

/// A reason as a sentence for people.
pub(super) fn because(reason: &Extensible<Reason>, explanation: &Explanation) -> String {
    cell::plain(&client::sentences::because(reason, explanation))
}
