//! Locks and reads schedules that are to be fired: what is so of them stays so until that is written.

use super::record::Facts;
use super::starts::Starts;
use super::{Due, past};
use crate::StoreError;
use crate::plan::name_of;
use crate::schedule::read_text;
use crate::statement::named;
use crate::tenant::state_of;
use domain::id::{ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::schedule::Made;
use sqlx::PgConnection;
use uuid::Uuid;

/// Locks those schedules of `due` (by id) that are due then still, and reads them.
pub(super) async fn lock(tx: &mut PgConnection, due: &[Due]) -> Result<Vec<Facts>, StoreError> {
    let ids: Vec<_> = due.iter().map(|due| due.schedule.uuid()).collect();
    let times: Vec<_> = due.iter().map(|due| due.due_at).collect();
    let query = sqlx::query!(
        r#"select i.place as "place!", s.id as "id!", s.shard as "shard!", s.fire_at as "fire_at!", s.tenant_id as "tenant_id!",
                s.name as "name!", s.version as "version!", s.timing as "timing!", s.template as "template!", s.misfire as "misfire!",
                s.overlap as "overlap!", s.paused_at is not null as "paused!",
                s.pause_after_failures is not null as "counts_ends!", s.created_at as "created_at!",
                s.created_by as "created_by!", s.fires as "fires!", t.state as "state!", t.plan as "plan!", clock_timestamp() as "now!",
                s.has_spans as "has_spans!", s.timing_since as "timing_since?", s.deleted_at as "deleted_at?",
                t.state_since as "state_since?",
                coalesce(l.live, case when l.asked then '{}' else s.recent end) as "live!", coalesce(l.queued, 0) as "queued!",
                coalesce(u.live, case when l.asked then '{}' else s.recent_runs end) as "live_runs!", s.workflow as "workflow?"
            from unnest($1::uuid[], $2::timestamptz[]) with ordinality as i(id, due_at, place)
            cross join lateral (
                select n.* from schedule n where n.id = i.id and n.due_at = i.due_at limit 1 for no key update) s
            cross join lateral (select o.state, o.state_since, o.plan from tenant o where o.id = s.tenant_id limit 1) t
            cross join lateral (
                select s.overlap not in ('allow', 'buffer_all') or s.has_spans as asked, array_agg(r.task order by r.place) as live,
                    count(*) filter (where k.concurrency_key = 'schedule_' || replace(s.id::text, '-', '')) as queued
                from unnest(s.recent) with ordinality as r(task, place)
                cross join lateral (
                    select n.id, n.concurrency_key from task n
                    where n.tenant_id = s.tenant_id and n.id = r.task and (s.overlap not in ('allow', 'buffer_all') or s.has_spans)
                    limit 1) k) l
            cross join lateral (
                select array_agg(r.run order by r.place) as live
                from unnest(s.recent_runs) with ordinality as r(run, place)
                cross join lateral (
                    select n.id from workflow_run n
                    where n.tenant_id = s.tenant_id and n.id = r.run and n.finished_at is null and l.asked
                    limit 1) k) u"#,
        &ids,
        &times
    );
    let rows = named("fire.facts", query.fetch_all(&mut *tx)).await?;
    let facts = rows.into_iter().map(|row| -> Result<Facts, StoreError> {
        let id = ScheduleId(row.id);
        let place = usize::try_from(row.place - 1).unwrap_or(0);
        let due_at = due.get(place).map_or(row.fire_at, |due| due.due_at);
        Ok(Facts {
            due: Due {
                schedule: id,
                tenant: TenantId(row.tenant_id),
                shard: row.shard,
                due_at,
                fire_at: row.fire_at,
            },
            tenant_state: state_of(&row.state, row.tenant_id)?,
            plan: name_of(row.plan)?,
            state_since: row.state_since,
            past_states: Vec::new(),
            spans: Vec::new(),
            has_spans: row.has_spans,
            deleted_at: row.deleted_at,
            timing_since: row.timing_since,
            name: row.name,
            version: row.version,
            timing: row.timing,
            template: row.template,
            misfire: row.misfire,
            overlap: read_text("overlap", id, &row.overlap)?,
            paused: row.paused,
            counts_ends: row.counts_ends,
            created_at: row.created_at,
            created_by: row.created_by,
            fires: row.fires.unsigned_abs(),
            starts: row.workflow.map(Starts::of),
            live: live(row.live, row.live_runs),
            queued: usize::try_from(row.queued).unwrap_or(0),
            now: row.now,
        })
    });
    let mut facts = facts.collect::<Result<Vec<_>, _>>()?;
    past::read(tx, &mut facts).await?;
    facts.iter_mut().for_each(judged_before);
    Ok(facts)
}

/// Where an earlier version judges, that says which workflow is run.
fn judged_before(facts: &mut Facts) {
    if let Some(judged) = facts.spans.iter().find(|span| span.until >= facts.due.fire_at) {
        facts.starts = judged.workflow.clone().map(Starts::of);
    }
}

/// Both kinds, oldest first: ids begin with the time at which they were made.
fn live(tasks: Vec<Uuid>, runs: Vec<Uuid>) -> Vec<Made> {
    let is_mixed = !tasks.is_empty() && !runs.is_empty();
    let tasks = tasks.into_iter().map(|id| Made::Task(TaskId(id)));
    let mut all: Vec<_> =
        tasks.chain(runs.into_iter().map(|id| Made::Run(WorkflowRunId(id)))).collect();
    if is_mixed {
        all.sort_by_key(|made| made.uuid());
    }
    all
}
