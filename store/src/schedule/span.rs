//! How a schedule was before an edit, kept while due times that had come by then have no row.
//!
//! An edit locks the schedule's row, as a fire does, and has one instant. What was to be fired up to that instant is judged by the
//! version before the edit, and the timing before it gave the due times up to it. Mostly all that has been fired, and nothing is kept.

use super::lock::reckoner;
use super::record::{ScheduleRecord, read_json};
use crate::StoreError;
use crate::statement::named;
use domain::id::ScheduleId;
use domain::schedule::{Coming, Reckoner, Source, Steps, Timing, first_coming};
use domain::time::Timestamp;
use runtime::low_priority;
use sqlx::PgConnection;

/// Spans of one schedule, at most. Whoever edits it more often between two fires has what came meanwhile judged by the last that was
/// kept; each due time has its row nevertheless.
const MOST: i64 = 1000;

/// Keeps the version of `schedule` that ends `at`, where due times of it may have no row; call it before anything of it is changed.
pub(super) async fn keep(
    tx: &mut PgConnection,
    schedule: &mut ScheduleRecord,
    at: Timestamp,
    timing_changes: bool,
) -> Result<(), StoreError> {
    let Some(coming) = schedule.coming() else { return Ok(()) };
    let has_jitter = !schedule.timing.jitter.is_zero();
    // Where fires wait, due times behind the next one may have come before it.
    let has_come = coming.fire_at <= at || timing_changes && (coming.due_at <= at || has_jitter);
    if !has_come {
        return Ok(());
    }
    let (mut kept, mut full) = (None, false);
    if schedule.has_spans {
        let query = sqlx::query!(
            r#"select max(until) as "until?", count(*) as "count!" from schedule_span where schedule_id = $1"#,
            schedule.id.uuid()
        );
        if let Some(row) = named("schedule.spans", query.fetch_all(&mut *tx)).await?.pop() {
            (kept, full) = (row.until, row.count >= MOST);
        }
    }
    if let Some(kept) = kept.filter(|_| !has_jitter) {
        // Edits that no due time lies between leave nothing to keep. Where that takes too long to tell, it is kept.
        let reckoner = reckoner(schedule.id, &schedule.timing, schedule.created_at)?;
        let steps = Steps::new(Steps::OF_A_CHECK);
        let next = reckoner.next_within(kept.max(schedule.due_after()), &steps);
        let is_none_between = !steps.is_out() && next.is_none_or(|due| due.at > at);
        if coming.due_at <= kept && is_none_between {
            return Ok(());
        }
    }
    if full { prolong(tx, schedule.id, at).await } else { insert(tx, schedule, at).await }
}

async fn insert(
    tx: &mut PgConnection,
    schedule: &mut ScheduleRecord,
    at: Timestamp,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with kept as (
                insert into schedule_span (schedule_id, version, tenant_id, until, timing_since, timing, template, overlap, misfire, paused,
                    workflow)
                select s.id, s.version, s.tenant_id, $2, s.timing_since, s.timing, s.template, s.overlap, s.misfire, s.paused_at is not null,
                    s.workflow
                from schedule s where s.id = $1
            )
            update schedule set has_spans = true where id = $1",
        schedule.id.uuid(),
        at
    );
    named("schedule.keep_span", query.execute(tx)).await?;
    schedule.has_spans = true;
    Ok(())
}

async fn prolong(tx: &mut PgConnection, id: ScheduleId, at: Timestamp) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule_span set until = $2 where schedule_id = $1
            and version = (select max(l.version) from schedule_span l where l.schedule_id = $1)",
        id.uuid(),
        at
    );
    named("schedule.prolong_span", query.execute(tx)).await.map(|_| ())
}

/// What is fired first after `after` of the due times that `schedule` and its spans have given until `at`, while its timing changes.
pub(super) async fn first_given(
    tx: &mut PgConnection,
    schedule: &ScheduleRecord,
    after: Coming,
    at: Timestamp,
) -> Result<Option<Coming>, StoreError> {
    let mut timings = Vec::new();
    if schedule.has_spans {
        let query = sqlx::query!(
            "select timing, timing_since, until from schedule_span where schedule_id = $1 and version < $2 order by version limit 1001",
            schedule.id.uuid(),
            schedule.version
        );
        for row in named("schedule.read_spans", query.fetch_all(tx)).await? {
            let timing: Timing = read_json("timing", schedule.id, &row.timing)?;
            timings.push((timing, row.timing_since, row.until));
        }
    }
    timings.push((schedule.timing.clone(), schedule.timing_since, at));
    let (id, created_at) = (schedule.id, schedule.created_at);
    // There may be a thousand: on a thread that may take its time.
    let find = move || {
        let mut reckoners = Vec::with_capacity(timings.len());
        for (timing, ..) in &timings {
            reckoners.push(reckoner(id, timing, created_at)?);
        }
        let versions = reckoners.iter().zip(&timings).map(|(reckoner, (_, since, until))| {
            TimingVersion { reckoner, since: *since, until: Some(*until) }
        });
        Ok(first_coming(id, &sources(created_at, versions), after))
    };
    low_priority::spawn(find).await.map_err(|_| StoreError::Busy)?
}

/// The timing of one version of a schedule.
#[derive(Debug, Clone, Copy)]
pub struct TimingVersion<'a> {
    /// The timing.
    pub reckoner: &'a Reckoner,
    /// Since when it is that; `None`: since the schedule was made.
    pub since: Option<Timestamp>,
    /// Until when it was so; `None`: it is so still.
    pub until: Option<Timestamp>,
}

/// Where the due times of a schedule come from, by its versions, the first first.
pub fn sources<'a>(
    created_at: Timestamp,
    versions: impl IntoIterator<Item = TimingVersion<'a>>,
) -> Vec<Source<'a>> {
    let mut before = None;
    let mut sources = Vec::new();
    for TimingVersion { reckoner, since, until } in versions {
        let since = since.unwrap_or(created_at);
        let after = before.map_or(since, |before: Timestamp| before.max(since));
        sources.push(Source { reckoner, after, until });
        before = until;
    }
    sources
}
