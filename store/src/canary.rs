//! What canaries saw, by hour, and what the public status is made of.
//!
//! Written by the platform's canaries, read by everybody. The rule: a report holds all that a start of a canary saw within an hour, so
//! that it may come twice, and late.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use chrono::NaiveDate;
use domain::canary::{CLASSES, Delays, Health, Seen};
use domain::id::CanaryName;
use domain::time::Timestamp;
use uuid::Uuid;

/// Days of the public status.
pub const DAYS: i32 = 90;
/// A canary that has not reported for so long counts no more.
const SILENT_AFTER_MINUTES: i32 = 5;

/// What a canary says of an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub canary: CanaryName,
    /// Which start of it.
    pub start: Uuid,
    /// When the hour begins.
    pub hour: Timestamp,
    /// All that it saw in this hour since its start.
    pub seen: Seen,
    /// Since when its rounds have faults. `None`: the last one had none.
    pub failing_since: Option<Timestamp>,
}

/// A day of the public status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// Which, in UTC.
    pub day: NaiveDate,
    /// What was seen in it.
    pub seen: Seen,
}

/// What the public status says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// When it was read.
    pub now: Timestamp,
    /// How it does now.
    pub health: Health,
    /// The earliest of the faults that canaries see now.
    pub failing_since: Option<Timestamp>,
    /// What was seen in the last 24 hours.
    pub recent: Seen,
    /// The days of the last [`DAYS`] in which something was seen, oldest first.
    pub days: Vec<Day>,
}

/// Stores a report, in the place of an earlier one of the same hour and start; forgets hours that are no longer shown.
///
/// # Errors
/// When the database cannot answer.
pub async fn report(db: &AdminDb, report: &Report) -> Result<(), StoreError> {
    let Report { canary, start, hour, seen, failing_since } = report;
    let lateness: Vec<i64> = seen.lateness.counts().iter().copied().map(i64::from).collect();
    let query = sqlx::query!(
        "insert into canary_hour as h (hour, canary, start, submits, accepted, due, reached, on_time, lateness, failing_since)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            on conflict (hour, canary, start) do update set submits = excluded.submits, accepted = excluded.accepted, due = excluded.due,
                reached = excluded.reached, on_time = excluded.on_time, lateness = excluded.lateness,
                failing_since = excluded.failing_since, updated_at = now()
            where h.submits <= excluded.submits and h.due <= excluded.due",
        hour,
        canary.as_str(),
        start,
        i64::from(seen.submits),
        i64::from(seen.accepted),
        i64::from(seen.due),
        i64::from(seen.reached),
        i64::from(seen.on_time),
        &lateness,
        *failing_since
    );
    named("canary.report", query.execute(db.pool())).await?;
    let old = sqlx::query!(
        "delete from canary_hour where hour < now() - make_interval(days => $1)",
        DAYS + 1
    );
    named("canary.forget", old.execute(db.pool())).await?;
    Ok(())
}

/// What canaries saw in the last [`DAYS`] days.
///
/// # Errors
/// When the database cannot answer.
pub async fn status(db: &AdminDb) -> Result<Status, StoreError> {
    let query = sqlx::query!(
        r#"select now() as "now!", count(*) filter (where failing_since is null) as "well!",
                count(*) filter (where failing_since is not null) as "failing!", min(failing_since) as failing_since
            from (
                select distinct on (canary) failing_since from canary_hour
                where hour > now() - interval '2 hours' and updated_at > now() - make_interval(mins => $1)
                order by canary, hour desc, updated_at desc) latest"#,
        SILENT_AFTER_MINUTES
    );
    let latest = named("canary.latest", query.fetch_optional(db.pool())).await?;
    let latest = latest.ok_or(sqlx::Error::RowNotFound)?;
    let (recent, days) = summed(db).await?;
    Ok(Status {
        now: latest.now,
        health: Health::of(latest.well.unsigned_abs(), latest.failing.unsigned_abs()),
        failing_since: latest.failing_since,
        recent,
        days,
    })
}

/// The last 24 hours, and each day.
async fn summed(db: &AdminDb) -> Result<(Seen, Vec<Day>), StoreError> {
    let query = sqlx::query!(
        r#"select b.day, sum(h.submits)::bigint as "submits!", sum(h.accepted)::bigint as "accepted!", sum(h.due)::bigint as "due!",
                sum(h.reached)::bigint as "reached!", sum(h.on_time)::bigint as "on_time!",
                array[
                sum(h.lateness[1])::bigint, sum(h.lateness[2])::bigint, sum(h.lateness[3])::bigint, sum(h.lateness[4])::bigint, sum(h.lateness[5])::bigint,
                sum(h.lateness[6])::bigint, sum(h.lateness[7])::bigint, sum(h.lateness[8])::bigint, sum(h.lateness[9])::bigint, sum(h.lateness[10])::bigint,
                sum(h.lateness[11])::bigint, sum(h.lateness[12])::bigint, sum(h.lateness[13])::bigint, sum(h.lateness[14])::bigint, sum(h.lateness[15])::bigint
                ] as "lateness!"
            from canary_hour h
            cross join lateral (
                select (h.hour at time zone 'UTC')::date as day
                union all select null where h.hour > now() - interval '24 hours') b
            where h.hour >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => $1) and h.hour <= now()
            group by b.day order by b.day"#,
        DAYS - 1
    );
    let (mut recent, mut days) = (Seen::default(), Vec::new());
    for row in named("canary.days", query.fetch_all(db.pool())).await? {
        let mut lateness = [0; CLASSES];
        for (class, number) in lateness.iter_mut().zip(row.lateness) {
            *class = clamped(number);
        }
        let seen = Seen {
            submits: clamped(row.submits),
            accepted: clamped(row.accepted),
            due: clamped(row.due),
            reached: clamped(row.reached),
            on_time: clamped(row.on_time),
            lateness: Delays::of(lateness),
        };
        match row.day {
            Some(day) => days.push(Day { day, seen }),
            None => recent = seen,
        }
    }
    Ok((recent, days))
}

fn clamped(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
