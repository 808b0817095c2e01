//! What the batcher may choose from: the heads of every tenant that has something ready.
//!
//! Tenants are found by skipping through the index from one to the next, so the cost follows the
//! active tenants and what is read of each, never the backlog. Each `order by` names the state, which is the same in all
//! rows: under row-level security the planner does not know that (enum equality is not leakproof), and would sort.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::{PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::Resources;
use domain::time::Timestamp;
use std::time::Duration;

/// A ready task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRow {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Until when it should start.
    pub start_deadline: Timestamp,
    /// What it needs.
    pub resources: Resources,
    /// Room it takes, in basic tasks.
    pub slots: u32,
    /// How long it may run.
    pub cap: Duration,
    /// Its tenant was charged for this start already: an earlier dispatch came to nothing.
    pub prepaid: bool,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Tasks of each tenant, at most.
    pub per_tenant: u64,
    /// Tenants of which fewer are wanted, down to none.
    pub fewer: &'a [(TenantId, u64)],
    /// Per dimension the most any executor could ever hold.
    pub largest: Resources,
    /// Sizes that find no room now.
    pub lacks: &'a Shapes,
}

/// Per active tenant of `pool`, its ready tasks by start deadline, as many as wanted. Leaves out what no executor could ever
/// hold, what finds no room now, and what is about to expire.
///
/// # Errors
/// When the database cannot answer.
pub async fn candidates(
    db: &SchedulerDb,
    pool: &PoolName,
    look: Look<'_>,
) -> Result<Vec<CandidateRow>, StoreError> {
    let Look { per_tenant, fewer, largest, lacks } = look;
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let (few, few_of): (Vec<_>, Vec<_>) =
        fewer.iter().map(|(tenant, most)| (tenant.uuid(), number(*most))).unzip();
    let most = largest.dimensions().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    let lacking: [Vec<i32>; 5] = std::array::from_fn(|d| {
        let sizes = lacks.least().iter();
        sizes.map(|size| i32::try_from(size.dimensions()[d]).unwrap_or(i32::MAX)).collect()
    });
    let query = sqlx::query!(
        r#"with recursive active as (
                (select tenant_id from task where pool = $1 and state = 'ready' order by state, tenant_id limit 1)
                union all
                select (select t.tenant_id from task t where t.pool = $1 and t.state = 'ready' and t.tenant_id > a.tenant_id
                    order by t.state, t.tenant_id limit 1)
                from active a where a.tenant_id is not null
            )
            select c.tenant_id, c.id, c.start_deadline, c.cpu_millis, c.memory_mib, c.disk_mib, c.iops, c.ports, c.slots,
                c.cap_ms, c.prepaid
            from active a
            left join unnest($14::uuid[], $15::bigint[]) as f(tenant_id, most) on f.tenant_id = a.tenant_id
            cross join lateral (
                select t.tenant_id, t.id, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
                    t.slots, t.cap_ms, t.prepaid
                from task t
                where t.pool = $1 and t.state = 'ready' and t.tenant_id = a.tenant_id
                    and t.cpu_millis <= $3 and t.memory_mib <= $4 and t.disk_mib <= $5 and t.iops <= $6 and t.ports <= $7
                    and ($8 or not exists (
                        select from unnest($9::integer[], $10::integer[], $11::integer[], $12::integer[], $13::integer[])
                            as l(cpu, memory, disk, iops, ports)
                        where t.cpu_millis >= l.cpu and t.memory_mib >= l.memory and t.disk_mib >= l.disk
                            and t.iops >= l.iops and t.ports >= l.ports))
                    and not (t.expire_if_late and t.first_started_at is null and t.start_deadline < now())
                order by t.state, t.start_deadline, t.id
                limit least($2, f.most)
            ) c
            where a.tenant_id is not null"#,
        pool.as_str(),
        number(per_tenant),
        most[0],
        most[1],
        most[2],
        most[3],
        most[4],
        lacks.is_empty(),
        &lacking[0],
        &lacking[1],
        &lacking[2],
        &lacking[3],
        &lacking[4],
        &few,
        &few_of
    );
    let rows = named("task.candidates", query.fetch_all(db.dispatch_pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| CandidateRow {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            start_deadline: row.start_deadline,
            resources: Resources::from_dimensions(
                [row.cpu_millis, row.memory_mib, row.disk_mib, row.iops, row.ports]
                    .map(i32::unsigned_abs),
            ),
            slots: row.slots.unsigned_abs(),
            cap: Duration::from_millis(row.cap_ms.unsigned_abs()),
            prepaid: row.prepaid,
        })
        .collect())
}
