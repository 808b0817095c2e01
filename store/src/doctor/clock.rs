//! The database's clock against this machine's.
//!
//! Due times and leases are decided by the database's clock alone, so an offset breaks none; but ids are made by this one, and
//! what people read in logs.

use super::Check;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::time::Timestamp;
use runtime::clock::wall;
use sqlx::PgConnection;
use std::time::Duration;

pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let asked = wall();
    let query = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#);
    let database = patient("doctor.clock", query.fetch_optional(tx)).await.and_then(one)?;
    let apart = apart(asked, database, wall());
    let count = i64::from(apart > options.clocks);
    let example = Some(format!("{:.3} s apart", apart.as_secs_f64()));
    Ok(vec![Finding { check: Check::ClockOffset, count, example }])
}

/// How far the clocks are apart at least: the database answered at some moment between the question and the answer.
fn apart(asked: Timestamp, database: Timestamp, answered: Timestamp) -> Duration {
    let before = (asked - database).to_std().unwrap_or_default();
    let after = (database - answered).to_std().unwrap_or_default();
    before.max(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_apart_by_what_the_way_there_and_back_cannot_explain() {
        let at = |ms: i64| Timestamp::from_timestamp_millis(1_000_000 + ms).unwrap();
        let ms = Duration::from_millis;
        assert_eq!(apart(at(0), at(400), at(900)), ms(0), "within the question and the answer");
        assert_eq!(apart(at(0), at(2900), at(900)), ms(2000), "the database's is ahead");
        assert_eq!(apart(at(0), at(-2000), at(900)), ms(2000), "and behind");
    }
}
