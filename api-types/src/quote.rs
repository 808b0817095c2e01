//! `POST /v1/quotes`: what something would cost.

use crate::{DateTime, Problem};
use serde::{Deserialize, Serialize};

/// What something would cost. All amounts are whole micro-units: millionths of the currency's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quote {
    /// When it was made; prices are those known then.
    pub at: DateTime,
    /// False: the tenant's plan has no prices, and nothing of it is priced.
    pub priced: bool,
    /// Code of ISO 4217; null: not priced.
    pub currency: Option<String>,
    /// The price book; null: not priced.
    pub price_book: Option<String>,
    /// The book's version.
    pub price_book_version: Option<i64>,
    /// Tasks that run, at most; null: the due times of the month take too long to count.
    pub tasks: Option<u64>,
    /// The most that it can cost, which is what it reserves of spend caps; null: not priced, or `tasks` is null.
    pub most: Option<i64>,
    /// What it probably costs; null: nothing like it has ended in the last seven days, or how many tasks run is not known.
    pub estimate: Option<QuoteEstimate>,
    /// Of a schedule: the month.
    pub month: Option<QuoteMonth>,
    /// What is alike, and its price: of a schedule that of one fire. At most 1000.
    pub lines: Vec<QuoteLine>,
    /// Lines that are left out: `most` has them.
    pub lines_left_out: u64,
    /// What would cost less.
    pub cheaper: Vec<QuoteCheaper>,
    /// The spend caps that hold for it, by name.
    pub caps: Vec<QuoteCap>,
    /// When the first task would start, if it were submitted now.
    pub expected_start: QuoteStart,
    /// Of a batch: the tasks that would be refused. They are not priced.
    #[serde(default)]
    pub rejected: Vec<QuoteRejected>,
}

/// What something probably costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteEstimate {
    /// Micro-units, never above `most`.
    pub amount: i64,
    /// What like tasks are: `schedule`, `workflow` or `tier`.
    #[cfg_attr(feature = "openapi", schema(example = "tier"))]
    pub like: String,
    /// Ended attempts of them that it is based on.
    pub attempts: u64,
    /// Attempts that ended from then on.
    pub since: DateTime,
}

/// A calendar month of the tenant's zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteMonth {
    /// Such as `2030-03`.
    pub month: String,
    /// In which invoices' months begin.
    pub zone: String,
    /// When it begins.
    pub starts_at: DateTime,
    /// When it ends, excluded.
    pub ends_at: DateTime,
    /// Due times of the schedule in it; null: they take too long to count.
    pub fires: Option<u64>,
    /// True: there may be fewer, because due times follow the ends of tasks.
    pub at_most: bool,
}

/// Tasks that are alike, and their price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteLine {
    /// Name of the node, or of the first task; null: it has none.
    pub name: Option<String>,
    /// Tasks.
    pub tasks: u64,
    /// True: another node returns how many items there are, and these are as many as its run may have.
    pub at_most: bool,
    /// Attempts of each, at most.
    pub attempts: u32,
    /// Tier; null: they give resources.
    pub tier: Option<String>,
    /// When the prices begin to hold by which an attempt costs the most.
    pub effective_from: DateTime,
    /// What an attempt costs that runs for its whole execution cap: cores.
    pub cpu: i64,
    /// Memory.
    pub memory: i64,
    /// Disk.
    pub disk: i64,
    /// Disk operations.
    pub iops: i64,
    /// Ports.
    pub ports: i64,
    /// An attempt is rounded once, and not part by part.
    pub rounding: i64,
    /// The discount for the delay tolerance, not positive.
    pub tolerance_discount: i64,
    /// The discount for being flexible, not positive.
    pub flexible_discount: i64,
    /// The sum of these: an attempt.
    pub attempt: i64,
    /// A task, once.
    pub task: i64,
    /// The fire that makes it, once; of a run, one task of the run has it.
    #[serde(default)]
    pub fire: i64,
    /// All of the line: `tasks` × (`attempts` × `attempt` + `task` + `fire`).
    pub most: i64,
}

/// What the same would cost with more patience.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteCheaper {
    /// With this delay tolerance, where it is longer; null: with the same.
    #[cfg_attr(feature = "openapi", schema(example = "1h"))]
    pub delay_tolerance: Option<String>,
    /// As flexible tasks.
    pub flexible: bool,
    /// The most that it can cost then.
    pub most: i64,
    /// That is less by this.
    pub saving: i64,
    /// The same in hundredths of a percent, rounded down.
    pub saving_basis_points: u32,
}

/// A spend cap, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteCap {
    /// The cap's name.
    pub name: String,
    /// Its currency.
    pub currency: String,
    /// `day` or `month`.
    #[cfg_attr(feature = "openapi", schema(example = "month"))]
    pub period: String,
    /// The most that its tasks may cost in a period.
    pub amount: i64,
    /// What is free of it now; of a schedule in a month to come, all of it.
    pub free: i64,
    /// The most that this takes of it: of a schedule in a month, or on the day with the most fires.
    pub needs: i64,
    /// `free` less `needs`.
    pub leaves: i64,
    /// True: this cap would refuse some of it.
    pub would_pass: bool,
}

/// When a task would start. Not a promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteStart {
    /// Not before; null: unknown.
    pub from: Option<DateTime>,
    /// Expected by then; null: unknown.
    pub to: Option<DateTime>,
    /// Why, in words.
    pub reason: String,
}

/// A task of a batch that would be refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuoteRejected {
    /// Its place in the batch, from 0.
    pub index: usize,
    /// Why.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::Problem))]
    pub error: Box<Problem>,
}
