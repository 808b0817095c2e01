//! Pauses schedules that nobody can read, so that they harm no other and are not tried again and again.
//!
//! Such a one has no due time any more; its backfill is over. Its owner deletes it and puts it again.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::malformed::{LEAST, MOST, Page, at};
use crate::statement::named;
use domain::id::{ScheduleId, TenantId};

/// A schedule that was paused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedSchedule {
    /// Which.
    pub schedule: ScheduleId,
    /// Whose.
    pub tenant: TenantId,
}

/// Pauses those of `schedules` that are still in the version that could not be read because of `what`, a word such as `timing`; those
/// without a version in any.
///
/// # Errors
/// When the database cannot answer.
pub async fn pause_unreadable(
    db: &SchedulerDb,
    schedules: &[(ScheduleId, Option<i64>)],
    what: &str,
) -> Result<Vec<PausedSchedule>, StoreError> {
    let mut sorted = schedules.to_vec();
    sorted.sort_unstable();
    let ids: Vec<_> = sorted.iter().map(|(id, _)| id.uuid()).collect();
    let versions: Vec<_> = sorted.iter().map(|(_, version)| *version).collect();
    let query = sqlx::query!(
        r#"with gone as (
                delete from schedule s using unnest($1::uuid[], $2::bigint[]) as i(id, version)
                where s.id = any (array[i.id]) and s.version = coalesce(i.version, s.version) and s.deleted_at is not null
            ), paused as (
                update schedule s set paused_at = coalesce(s.paused_at, clock_timestamp()), paused_by = 'system',
                    paused_because = 'malformed: ' || $3::text || ' cannot be read', due_at = null, fire_at = null, awaits = null,
                    version = s.version + 1, updated_at = clock_timestamp(), has_spans = false
                from unnest($1::uuid[], $2::bigint[]) as i(id, version)
                where s.id = any (array[i.id]) and s.version = coalesce(i.version, s.version) and s.deleted_at is null
                returning s.id, s.tenant_id
            ), over as (
                delete from schedule_backfill b using paused p where b.schedule_id = p.id
            ), earlier as (
                delete from schedule_span n using paused p where n.schedule_id = p.id
            )
            select id, tenant_id from paused"#,
        &ids,
        &versions as &[Option<i64>],
        what
    );
    let rows = named("fire.pause_unreadable", query.fetch_all(db.pool())).await?;
    let paused = rows.into_iter().map(|row| PausedSchedule {
        schedule: ScheduleId(row.id),
        tenant: TenantId(row.tenant_id),
    });
    Ok(paused.collect())
}

/// Pauses those in the pages of `page` whose rows no statement can work with, at most `limit`, and sets what is no value to one; and
/// the page after which to go on, 0: from the start.
///
/// # Errors
/// When the database cannot answer.
pub async fn pause_unsound(
    db: &SchedulerDb,
    page: Page,
    limit: i64,
) -> Result<(Vec<PausedSchedule>, i64), StoreError> {
    let query = sqlx::query!(
        r#"with bad as materialized (
                select s.id from schedule s
                where s.ctid >= $1::text::tid and s.ctid < $2::text::tid and not berth_schedule_is_sound(s)
                limit $3
            ), gone as (
                delete from schedule s using bad b where s.id = any (array[b.id]) and s.deleted_at is not null
            ), paused as (
                update schedule s set paused_at = coalesce(case when s.paused_at >= $4 and s.paused_at < $5 then s.paused_at end,
                        clock_timestamp()),
                    paused_by = 'system', paused_because = 'malformed: its row cannot be read', due_at = null, fire_at = null, awaits = null,
                    version = case when s.version between 1 and 999999999999 then s.version + 1 else 1 end,
                    updated_at = clock_timestamp(),
                    created_at = case when s.created_at >= $4 and s.created_at < $5 then s.created_at else clock_timestamp() end,
                    ended_at = null, has_spans = false, timing_since = case when s.timing_since >= $4 and s.timing_since < $5 then s.timing_since end,
                    name = coalesce(nullif(s.name, ''), s.id::text),
                    timing = coalesce(nullif(s.timing, ''), 'null'), template = coalesce(nullif(s.template, ''), 'null'),
                    misfire = coalesce(nullif(s.misfire, ''), 'null'),
                    overlap = case when s.overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow') then s.overlap
                        else 'skip' end,
                    created_by = coalesce(s.created_by, 'system'), tzdb = coalesce(s.tzdb, ''), recent = coalesce(s.recent, '{}'),
                    shard = coalesce(s.shard, 0), fires = case when s.fires between 0 and 1000000000000 then s.fires else 0 end
                from bad b where s.id = any (array[b.id]) and s.deleted_at is null
                returning s.id, s.tenant_id
            ), over as (
                delete from schedule_backfill b using paused p where b.schedule_id = p.id
            ), earlier as (
                delete from schedule_span n using paused p where n.schedule_id = p.id
            )
            select z.pages as "pages!", p.id as "id?", p.tenant_id as "tenant_id?"
            from (select pg_relation_size('public.schedule'::regclass) / current_setting('block_size')::bigint as pages) z
            left join paused p on true"#,
        at(page.from),
        at(page.from + page.pages),
        limit,
        LEAST,
        MOST
    );
    let rows = kept!(db.hot(), "fire.pause_unsound", query.fetch_all);
    let end = rows.first().map_or(0, |row| row.pages);
    let next = if page.from + page.pages < end { page.from + page.pages } else { 0 };
    let paused = rows.into_iter().filter_map(|row| {
        Some(PausedSchedule { schedule: ScheduleId(row.id?), tenant: TenantId(row.tenant_id?) })
    });
    Ok((paused.collect(), next))
}
