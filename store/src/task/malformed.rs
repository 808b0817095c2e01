//! Finds live tasks that no statement can work with, page by page.
//!
//! What stores tasks refuses such a one (`berth_new_task`). One that came in past it is left out by the statements that would fail on it
//! (`berth_task_is_sound`), so that it harms nobody; who looks here finds it, wherever in the table it is, and ends it.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::hot::kept;
use crate::malformed::{Page, at};
use domain::id::{TaskId, TenantId};

/// Waiting tasks of the pages of `page` that cannot be worked with, at most `limit`; and the page after which to go on, 0: from
/// the start.
///
/// # Errors
/// When the database cannot answer.
pub async fn malformed_of_pages(
    db: &SchedulerDb,
    page: Page,
    limit: i64,
) -> Result<(Vec<(TenantId, TaskId)>, i64), StoreError> {
    let query = sqlx::query!(
        r#"select z.pages as "pages!", b.tenant_id as "tenant_id?", b.id as "id?"
            from (select pg_relation_size('public.task'::regclass) / current_setting('block_size')::bigint as pages) z
            left join lateral (
                select t.tenant_id, t.id from task t
                where t.ctid >= $1::text::tid and t.ctid < $2::text::tid and t.session_id is null
                    and t.state in ('scheduled', 'ready', 'queued', 'retrying')
                    and not (berth_task_is_sound(t) and (select true from pool p where p.name = t.pool limit 1) is true)
                limit $3) b on true"#,
        at(page.from),
        at(page.from + page.pages),
        limit
    );
    let rows = kept!(db.hot(), "task.malformed_of_pages", query.fetch_all);
    let end = rows.first().map_or(0, |row| row.pages);
    let next = if page.from + page.pages < end { page.from + page.pages } else { 0 };
    let bad = rows.into_iter().filter_map(|row| Some((TenantId(row.tenant_id?), TaskId(row.id?))));
    Ok((bad.collect(), next))
}
