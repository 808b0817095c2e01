//! Stores a schedule by its name: the same again changes nothing.
//!
//! Who makes one is the only one of its tenant to do so until it is committed: the plan's quota is exact. An edit has one instant; due
//! times that had come by then and have no row keep the version by which they came ([`super::span`]).

use super::lock::{first, lock_to_edit, now, reckoner};
use super::pause::store as store_pause;
use super::record::{Pause, ScheduleRecord, write_json};
use super::span;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::{named, repeated};
use crate::workflow::keep;
use crate::{StoreError, TenantScope};
use domain::audit::ActorId;
use domain::id::ScheduleId;
use domain::schedule::{FireTemplate, Misfire, Overlap, Timing, rules_version};
use domain::time::Timestamp;
use sqlx::PgConnection;

/// A schedule to store. Everything in it has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PutSchedule {
    /// What its owner calls it.
    pub name: String,
    /// What decides when.
    pub timing: Timing,
    /// What a fire makes.
    pub template: FireTemplate,
    /// What is done while an earlier task of it lives.
    pub overlap: Overlap,
    /// What is done with due times that were not fired in time.
    pub misfire: Misfire,
    /// Paused when so many of its tasks in a row have not succeeded; `None`: never.
    pub pause_after_failures: Option<u32>,
    /// `Some`: paused, or not; `None`: as it is, and not paused when new.
    pub paused: Option<bool>,
    /// The key or the sign-in it came by.
    pub created_by: ActorId,
    /// Only where it is in this version; 0: only where there is none.
    pub if_version: Option<i64>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PutAnswer {
    /// It is new.
    Created(Box<ScheduleRecord>),
    /// It is changed, and a version on.
    Updated(Box<ScheduleRecord>),
    /// It was so before.
    Unchanged(Box<ScheduleRecord>),
    /// The tenant has as many as its plan allows.
    QuotaReached {
        /// How many that is.
        limit: u32,
    },
    /// It is in another version; `None`: there is none.
    VersionMismatch {
        /// In which.
        version: Option<i64>,
    },
    /// It has no due time from now on.
    NeverFires,
    /// The tenant has no workflow of the name whose runs it is to start.
    UnknownWorkflow,
}

/// Stores `schedule`. Its next due time is the first after now. Wake the shards' owners (`Topic::ShardOwner`) when it is `Created`
/// or `Updated`.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    schedule: &PutSchedule,
) -> Result<PutAnswer, StoreError> {
    // Once more where another made one of the same name in between.
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        let found = match lock_to_edit(&mut tx, scope, &schedule.name).await? {
            Some(stored) => Some(stored),
            None => {
                lock_all(&mut tx, scope).await?;
                lock_to_edit(&mut tx, scope, &schedule.name).await?
            }
        };
        let version = found.as_ref().map(|(stored, _)| stored.version);
        if schedule.if_version.is_some_and(|wanted| wanted != version.unwrap_or(0)) {
            return Ok(PutAnswer::VersionMismatch { version });
        }
        if let Some(start) = schedule.template.workflow()
            && !keep(&mut tx, scope, &start.workflow).await?
        {
            return Ok(PutAnswer::UnknownWorkflow);
        }
        let answer = match found {
            Some((stored, at)) => update(&mut tx, scope, (stored, at), schedule).await?,
            None => create(&mut tx, scope, schedule).await?,
        };
        if matches!(answer, PutAnswer::Created(_) | PutAnswer::Updated(_)) {
            named("commit", tx.commit()).await?;
        }
        Ok(answer)
    })
    .await
}

/// Lets one request at a time make schedules of this tenant, to the end of its transaction.
async fn lock_all(tx: &mut PgConnection, scope: &TenantScope) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "locked!" from pg_advisory_xact_lock(hashtextextended('schedules ' || $1::text, 0))"#,
        scope.tenant().to_string()
    );
    named("schedule.lock_all", query.fetch_one(tx)).await.map(|_| ())
}

/// What the tenant's plan allows, where it has as many already.
async fn quota_reached(
    tx: &mut PgConnection,
    scope: &TenantScope,
) -> Result<Option<u32>, StoreError> {
    let query = sqlx::query!(
        r#"select l.schedules as "schedules!", (
                select count(*) from (
                    select from schedule s where s.tenant_id = t.id and s.deleted_at is null limit l.schedules) held) as "held!"
            from tenant t join plan p on p.name = t.plan
            cross join lateral (select (p.limits->>'schedules')::integer as schedules) l where t.id = $1"#,
        scope.tenant().uuid()
    );
    let rows = named("schedule.count", query.fetch_all(tx)).await?;
    let reached = rows.first().filter(|row| row.held >= i64::from(row.schedules));
    Ok(reached.map(|row| row.schedules.unsigned_abs()))
}

async fn create(
    tx: &mut PgConnection,
    scope: &TenantScope,
    new: &PutSchedule,
) -> Result<PutAnswer, StoreError> {
    if let Some(limit) = quota_reached(&mut *tx, scope).await? {
        return Ok(PutAnswer::QuotaReached { limit });
    }
    let (id, at) = (ScheduleId::fresh(), now(&mut *tx).await?);
    let Ok(reckoner) = reckoner(id, &new.timing, at) else {
        return Ok(PutAnswer::NeverFires);
    };
    let Some(coming) = first(id, reckoner, at).await? else {
        return Ok(PutAnswer::NeverFires);
    };
    let record = ScheduleRecord {
        tenant: scope.tenant(),
        id,
        name: new.name.clone(),
        version: 1,
        timing: new.timing.clone(),
        template: new.template.clone(),
        overlap: new.overlap,
        misfire: new.misfire,
        pause_after_failures: new.pause_after_failures,
        failures_in_row: 0,
        created_at: at,
        updated_at: at,
        created_by: new.created_by.clone(),
        paused: (new.paused == Some(true)).then(|| paused_by(scope, at)),
        next_at: Some(coming.due_at),
        next_fire_at: Some(coming.fire_at),
        fires: 0,
        recent: Vec::new(),
        recent_runs: Vec::new(),
        awaits: None,
        tzdb: rules_version().to_owned(),
        ended_at: None,
        timing_since: None,
        has_spans: false,
    };
    insert(&mut *tx, &record).await?;
    let act = Act::new(AuditAction::SchedulePut, &new.name).to(record.audit_value());
    audit::record(&mut *tx, scope, act).await?;
    Ok(PutAnswer::Created(Box::new(record)))
}

fn paused_by(scope: &TenantScope, at: Timestamp) -> Pause {
    Pause { at, by: scope.by().actor.into(), because: None }
}

async fn insert(tx: &mut PgConnection, record: &ScheduleRecord) -> Result<(), StoreError> {
    let paused = record.paused.as_ref();
    let query = sqlx::query!(
        "insert into schedule (id, tenant_id, name, timing, template, overlap, misfire, created_at, updated_at, created_by,
                paused_at, paused_by, due_at, fire_at, tzdb, pause_after_failures, workflow, shard)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $16, $17, (
                select h.shard from schedule_shard h where h.open order by h.shard
                    limit 1 offset $15::bigint % (select count(*) from schedule_shard o where o.open)))",
        record.id.uuid(),
        record.tenant.uuid(),
        record.name,
        write_json("timing", &record.timing)?,
        write_json("template", &record.template)?,
        record.overlap.as_str(),
        write_json("misfire", &record.misfire)?,
        record.created_at,
        record.created_by.to_string(),
        paused.map(|pause| pause.at),
        paused.map(|pause| pause.by.to_string()),
        record.next_at,
        record.next_fire_at,
        record.tzdb,
        dealt(record.id),
        record.pause_after_failures.map(|enough| i32::try_from(enough).unwrap_or(i32::MAX)),
        record.template.workflow().map(|start| start.workflow.as_str())
    );
    match named("schedule.insert", query.execute(tx)).await {
        Err(error) if error.sqlstate().as_deref() == Some("23505") => Err(StoreError::Contended),
        result => result.map(|_| ()),
    }
}

/// By what a schedule is dealt into a shard: the random end of its id.
fn dealt(id: ScheduleId) -> i64 {
    i64::try_from(id.uuid().as_u128() & 0xffff_ffff).unwrap_or(0)
}

async fn update(
    tx: &mut PgConnection,
    scope: &TenantScope,
    (stored, at): (ScheduleRecord, Timestamp),
    new: &PutSchedule,
) -> Result<PutAnswer, StoreError> {
    let before = stored.audit_value();
    let hidden = hidden_change(&stored.template, &new.template);
    let mut record = stored;
    let pauses = new.paused.is_some_and(|paused| paused != record.paused.is_some());
    if pauses {
        record.paused = if record.paused.is_some() { None } else { Some(paused_by(scope, at)) };
    }
    // They count from here on.
    if pauses && record.paused.is_none() || record.pause_after_failures != new.pause_after_failures
    {
        record.failures_in_row = 0;
    }
    let same = record.timing == new.timing
        && record.template == new.template
        && record.overlap == new.overlap
        && record.misfire == new.misfire
        && record.pause_after_failures == new.pause_after_failures;
    if same && !pauses {
        return Ok(PutAnswer::Unchanged(Box::new(record)));
    }
    let timing_changes = record.timing != new.timing;
    span::keep(&mut *tx, &mut record, at, timing_changes).await?;
    if timing_changes && !retime(&mut *tx, &mut record, new, at).await? {
        return Ok(PutAnswer::NeverFires);
    }
    record.template = new.template.clone();
    record.overlap = new.overlap;
    record.misfire = new.misfire;
    record.pause_after_failures = new.pause_after_failures;
    // Also its version.
    store_pause(&mut *tx, &mut record, at).await?;
    if !same {
        change(&mut *tx, &record).await?;
    }
    let mut after = record.audit_value();
    if let Some((of, what)) = hidden {
        after[of][what] = true.into();
    }
    let act = Act::new(AuditAction::SchedulePut, &record.name).from(before).to(after);
    audit::record(&mut *tx, scope, act).await?;
    Ok(PutAnswer::Updated(Box::new(record)))
}

/// What changes that the audit does not show: what a task runs, or the input of runs. That it is another thing now is shown.
fn hidden_change(
    before: &FireTemplate,
    after: &FireTemplate,
) -> Option<(&'static str, &'static str)> {
    match (before, after) {
        (FireTemplate::Task(before), FireTemplate::Task(after)) => {
            (before.run != after.run).then_some(("task", "run_changed"))
        }
        (FireTemplate::Workflow(before), FireTemplate::Workflow(after)) => {
            (before.input != after.input).then_some(("workflow", "input_changed"))
        }
        (FireTemplate::Task(_), FireTemplate::Workflow(_))
        | (FireTemplate::Workflow(_), FireTemplate::Task(_)) => None,
    }
}

/// Gives `record` its new timing from `at` on; false where it would have no due time any more. What has come already comes from the
/// old timing, and what waits for a task goes on waiting where it still counts from its end.
async fn retime(
    tx: &mut PgConnection,
    record: &mut ScheduleRecord,
    new: &PutSchedule,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let old = match record.coming() {
        Some(coming) if coming.due_at > at => span::first_given(tx, record, coming, at).await?,
        coming => coming,
    };
    record.timing = new.timing.clone();
    record.timing_since = Some(at);
    record.tzdb = rules_version().to_owned();
    if record.awaits.is_some() && record.timing.is_fixed_delay() {
        return Ok(true);
    }
    let Ok(reckoner) = reckoner(record.id, &record.timing, record.created_at) else {
        return Ok(false);
    };
    let Some(first) = first(record.id, reckoner, at).await? else { return Ok(false) };
    let coming = old.map_or(first, |old| old.min(first));
    (record.next_at, record.next_fire_at) = (Some(coming.due_at), Some(coming.fire_at));
    (record.awaits, record.ended_at) = (None, None);
    Ok(true)
}

async fn change(tx: &mut PgConnection, record: &ScheduleRecord) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update schedule set timing = $2, template = $3, overlap = $4, misfire = $5, due_at = $6, fire_at = $7, awaits = $8,
                tzdb = $9, ended_at = $10, pause_after_failures = $11, told_missed = null, timing_since = $12, workflow = $13
            where id = $1",
        record.id.uuid(),
        write_json("timing", &record.timing)?,
        write_json("template", &record.template)?,
        record.overlap.as_str(),
        write_json("misfire", &record.misfire)?,
        record.next_at,
        record.next_fire_at,
        record.awaits,
        record.tzdb,
        record.ended_at,
        record.pause_after_failures.map(|enough| i32::try_from(enough).unwrap_or(i32::MAX)),
        record.timing_since,
        record.template.workflow().map(|start| start.workflow.as_str())
    );
    named("schedule.change", query.execute(tx)).await.map(|_| ())
}
