//! Checks the grammar of cron patterns, more strictly than the library that reads them.
//!
//! Each part of a pattern must mean just one thing. What other programs read differently, and a part that does not mean what it
//! says, is refused with the form to write instead. Only the text is checked here: what it matches is the library's business.
//!
//! A new timing must pass this check ([`crate::schedule::Timing::check_new`]). A stored one need not: it was accepted before.

mod day;
mod field;
mod item;
mod list;
mod whole;

pub(super) use day::mixes_last_and_nearest;
pub(super) use field::{MONTHS, WEEKDAYS};
pub(in crate::schedule) use whole::check;
pub(super) use whole::{LONGEST, NAMED};

#[cfg(test)]
mod tests;
