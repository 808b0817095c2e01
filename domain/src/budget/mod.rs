//! Which retries a target is sent, so that one that fails is not held down by those who call it again.
//!
//! Kept per tenant and target by each resource manager of its own attempts, in memory; see docs/retries.md. Pure: times are
//! passed in, counted from any fixed moment before.

mod account;
mod books;
mod rule;
#[cfg(test)]
mod tests;

pub use account::{Account, Ask, Held};
pub use books::{Books, TargetKey};
pub use rule::BudgetRule;
