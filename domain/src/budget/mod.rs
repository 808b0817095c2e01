//! Retry budgets: so that retries do not keep a failing target down.
//!
//! Each resource manager keeps accounts in memory, per tenant and target, for its own attempts; see docs/retries.md.
//! Pure: times are passed in, relative to a fixed start.

mod account;
mod books;
mod rule;
#[cfg(test)]
mod tests;

pub use account::{Account, AttemptEnd, Held, RetryDecision};
pub use books::{Books, TargetKey};
pub use rule::BudgetRule;
