//! Counts tries to sign in, exactly and across all processes.
//!
//! A row holds the times of the tries that were let through, never more than the limit: the window slides, and a try that is
//! refused does not push the end away. One statement judges and counts, so that tries at once cannot pass together.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use std::time::Duration;

/// Whether a try may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was counted.
    Allowed,
    /// The limit is reached for so long.
    Refused(Duration),
}

/// Counts a try of `subject`, unless there were `limit` within `window` before it.
///
/// # Errors
/// When the database cannot answer.
pub async fn take(
    db: &SubmitDb,
    subject: &[u8; 32],
    limit: u32,
    window: Duration,
) -> Result<Attempt, StoreError> {
    let (limit, window) = (i64::from(limit), window.as_secs_f64());
    let count = sqlx::query_scalar!(
        r#"insert into sign_in_attempt as a (subject, times) values ($1, array[clock_timestamp()])
            on conflict (subject) do update set updated_at = now(),
                times = array(select t from unnest(a.times) t where t > clock_timestamp() - $3 * interval '1 second' order by t)
                    || clock_timestamp()
            where (select count(*) from unnest(a.times) t where t > clock_timestamp() - $3 * interval '1 second') < $2
            returning true as "allowed!""#,
        &subject[..],
        limit,
        window
    );
    if named("sign_in.attempt", count.fetch_optional(db.pool())).await?.is_some() {
        return Ok(Attempt::Allowed);
    }
    let wait = sqlx::query_scalar!(
        r#"select extract(epoch from min(t) + $2 * interval '1 second' - clock_timestamp())::double precision as "wait?"
            from sign_in_attempt a, unnest(a.times) t
            where a.subject = $1 and t > clock_timestamp() - $2 * interval '1 second'"#,
        &subject[..],
        window
    );
    let wait = named("sign_in.attempt_wait", wait.fetch_optional(db.pool())).await?.flatten();
    Ok(Attempt::Refused(Duration::try_from_secs_f64(wait.unwrap_or(0.0)).unwrap_or_default()))
}

/// Takes the last try of `subject` back, which was right.
///
/// # Errors
/// When the database cannot answer.
pub async fn give_back(db: &SubmitDb, subject: &[u8; 32]) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update sign_in_attempt set times = trim_array(times, 1) where subject = $1 and cardinality(times) > 0",
        &subject[..]
    );
    named("sign_in.give_attempt_back", query.execute(db.pool())).await.map(|_| ())
}
