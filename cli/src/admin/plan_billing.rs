//! The flags for how a plan is billed.

use crate::failure::Failure;
use domain::id::PriceBookName;
use domain::price::{Billing, Included, PutBilling};

/// How a plan is billed. Omitted values stay unchanged.
#[derive(Debug, clap::Args)]
pub struct BillingArguments {
    /// Bill by this price book; `none`: by none.
    #[arg(long, value_name = "NAME|none")]
    price_book: Option<String>,
    /// Cost of attempts that each month includes, millionths of the currency's unit.
    #[arg(long, value_name = "MICROS")]
    included_attempts: Option<i64>,
    /// Tasks that each month includes.
    #[arg(long, value_name = "TASKS")]
    included_tasks: Option<u64>,
    /// Fires of schedules that each month includes.
    #[arg(long, value_name = "FIRES")]
    included_fires: Option<u64>,
    /// The least that a month comes to, millionths of the currency's unit.
    #[arg(long, value_name = "MICROS")]
    monthly_minimum: Option<i64>,
}

impl BillingArguments {
    /// How a plan is to be billed that is billed by `before`.
    pub fn over(&self, before: Option<&Billing>) -> Result<PutBilling, Failure> {
        let amounts = self.included_attempts.is_some()
            || self.included_tasks.is_some()
            || self.included_fires.is_some()
            || self.monthly_minimum.is_some();
        let price_book = match self.price_book.as_deref() {
            Some("none") if amounts => {
                return Err(Failure::usage("a plan without a price book includes nothing"));
            }
            Some("none") => return Ok(PutBilling::Is(None)),
            Some(name) => Some(name.parse::<PriceBookName>().map_err(|error| {
                Failure::usage(format!("`{name}` is no name of a price book: {error}"))
            })?),
            None => before.map(|before| before.price_book.clone()),
        };
        let Some(price_book) = price_book else {
            return if amounts {
                Err(Failure::usage("the plan has no price book; give --price-book"))
            } else {
                Ok(PutBilling::Kept)
            };
        };
        let (mut included, mut minimum) =
            before.map_or((Included::default(), 0), |before| (before.included, before.minimum));
        included.attempts = self.included_attempts.unwrap_or(included.attempts);
        included.tasks = self.included_tasks.unwrap_or(included.tasks);
        included.fires = self.included_fires.unwrap_or(included.fires);
        minimum = self.monthly_minimum.unwrap_or(minimum);
        let billing = Billing { price_book, included, minimum };
        let wrong: Vec<_> = billing
            .problems()
            .iter()
            .map(|(pointer, wanted)| format!("{} {wanted}", pointer.trim_start_matches('/')))
            .collect();
        if wrong.is_empty() {
            Ok(PutBilling::Is(Some(billing)))
        } else {
            Err(Failure::usage(wrong.join("; ")))
        }
    }
}
