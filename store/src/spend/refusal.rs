//! Why a task was not accepted: a cap is used up.

use domain::price::Micros;
use domain::time::{Timestamp, format_time};
use std::fmt;

/// A cap that has no room for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapRefusal {
    /// The cap's name.
    pub cap: String,
    /// The currency of the amounts.
    pub currency: String,
    /// What a period may cost.
    pub amount: Micros,
    /// What is neither spent in this period nor reserved.
    pub free: Micros,
    /// The most that the task can cost.
    pub needed: Micros,
    /// When the next period begins.
    pub resets_at: Timestamp,
    /// The currency in which the tenant is billed now, where it is another: then nothing is accepted that costs.
    pub billed_in: Option<String>,
}

impl fmt::Display for CapRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cap, currency, .. } = self;
        if let Some(billed_in) = &self.billed_in {
            return write!(
                f,
                "The spend cap `{cap}` is in {currency} and the tenant is billed in {billed_in}: put a cap in {billed_in} in its place."
            );
        }
        let units = |amount: Micros| amount.in_units(2);
        write!(
            f,
            "The spend cap `{cap}` of {} {currency} has {} {currency} left, and this can cost up to {} {currency}. It has room again when \
             tasks end that cost less than they could, and from {} on.",
            units(self.amount),
            units(self.free),
            units(self.needed),
            format_time(self.resets_at)
        )
    }
}
