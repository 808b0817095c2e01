//! Lets tasks go that waited for a target: they are due now. Several at once take different ones.
//!
//! Writes no state: the tasks stay `retrying`, and become `ready` as whatever is due. One that has moved on meanwhile stays as
//! it is, and only its row here goes.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use domain::budget::TargetKey;
use domain::id::TenantId;

/// What was found for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetGo {
    /// Which target.
    pub key: TargetKey,
    /// Rows that were there to go.
    pub found: u32,
    /// Tasks that are due now; the other rows were of tasks that had moved on.
    pub gone: u32,
}

/// Lets up to so many go for each target; what is not named in the answer had none to go.
///
/// # Errors
/// When the database cannot answer; then none went.
pub async fn let_go(db: &RmDb, targets: &[(TargetKey, u32)]) -> Result<Vec<LetGo>, StoreError> {
    let tenants: Vec<_> = targets.iter().map(|(key, _)| key.tenant.uuid()).collect();
    let names: Vec<_> = targets.iter().map(|(key, _)| key.target.to_string()).collect();
    let counts: Vec<_> = targets.iter().map(|(_, count)| i64::from(*count)).collect();
    repeated(|| async {
        let query = sqlx::query!(
            r#"with picked as materialized (
                    select h.* from unnest($1::uuid[], $2::text[], $3::bigint[]) as w(tenant_id, target, most)
                    cross join lateral (
                        select r.tenant_id, r.task_id, r.attempt, r.target, r.due_at from held_retry r
                        where r.tenant_id = w.tenant_id and r.target = w.target and r.not_before <= now()
                        order by r.not_before, r.task_id limit w.most for update skip locked
                    ) h
                    order by h.tenant_id, h.task_id
                ), done as (
                    delete from held_retry r using picked p where r.tenant_id = any (array[p.tenant_id]) and r.task_id = p.task_id
                ), moved as (
                    update task t set run_at = now(), start_deadline = now() + (t.start_deadline - t.run_at), wake_at = now()
                    from picked p
                    where t.tenant_id = any (array[p.tenant_id]) and t.id = p.task_id and t.attempt = p.attempt
                        -- One whose owner gave it another time waits for that.
                        and t.state = 'retrying' and t.run_at > now() and t.run_at = p.due_at
                    returning t.tenant_id, t.id
                )
                select p.tenant_id as "tenant_id!", p.target as "target!", count(*) as "found!", count(m.id) as "gone!"
                from picked p left join moved m on m.tenant_id = p.tenant_id and m.id = p.task_id
                group by p.tenant_id, p.target"#,
            &tenants,
            &names,
            &counts
        );
        let rows = named("held_retry.let_go", query.fetch_all(db.pool())).await?;
        let count = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
        let answer = rows.into_iter().map(|row| LetGo {
            key: TargetKey { tenant: TenantId(row.tenant_id), target: row.target.into() },
            found: count(row.found),
            gone: count(row.gone),
        });
        Ok(answer.collect())
    })
    .await
}
