//! What the API warns of when it accepts something: on standard error, so that standard output is what was asked for.

use crate::output::{self, cell};
use client::TaskWarning;

/// Tells each warning.
pub(super) fn warned(warnings: &[TaskWarning]) {
    for TaskWarning { detail, .. } in warnings {
        output::remark(&format!("berth: warning: {}", cell::plain(detail)));
    }
}
