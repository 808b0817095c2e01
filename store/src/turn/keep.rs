//! The batcher writes down where its tenants stand.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::own::on_own;
use domain::batch::StopReason;
use domain::id::{PoolName, TenantId};

/// A tenant that waits in a pool, or owes there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenantTurn {
    /// The tenant.
    pub tenant: TenantId,
    /// How far its account is ahead of the virtual time, in share-seconds by weight; 0 upwards.
    pub ahead: f64,
    /// Tenants that have their turn before it.
    pub before: u32,
    /// Tasks of it that had their turn a second, lately.
    pub rate: f64,
    /// It is at its limit on running tasks.
    pub at_limit: bool,
}

/// A pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolTurn {
    /// Why no more was handed out at the last look.
    pub stopped: StopReason,
    /// Slots that could have been handed out, and were.
    pub slots: u64,
    /// See `slots`.
    pub handed_out: u64,
    /// Slots that come free a second, lately.
    pub rate: f64,
    /// Slots that were free.
    pub free_slots: u64,
}

/// Replaces what was kept of `pool` and of these tenants; forgets tenants of which nothing was heard for 15 s.
///
/// # Errors
/// When the database cannot answer.
pub async fn keep(
    db: &SchedulerDb,
    pool: &PoolName,
    of_pool: PoolTurn,
    tenants: &[TenantTurn],
) -> Result<(), StoreError> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let ids: Vec<_> = tenants.iter().map(|t| t.tenant.uuid()).collect();
    let ahead: Vec<_> = tenants.iter().map(|t| t.ahead).collect();
    let before: Vec<_> =
        tenants.iter().map(|t| i32::try_from(t.before).unwrap_or(i32::MAX)).collect();
    let rates: Vec<_> = tenants.iter().map(|t| t.rate).collect();
    let held: Vec<_> = tenants.iter().map(|t| t.at_limit).collect();
    let query = sqlx::query!(
        r#"with forgotten as (
                delete from tenant_turn where pool = $1 and at < clock_timestamp() - interval '15 seconds'
                    and tenant_id <> all ($2)
            ), pool_kept as (
                insert into pool_turn as p (pool, stopped, slots, handed_out, rate, free_slots)
                values ($1, $7, $8, $9, $10, $11)
                on conflict (pool) do update set stopped = excluded.stopped, slots = excluded.slots,
                    handed_out = excluded.handed_out, rate = excluded.rate, free_slots = excluded.free_slots, at = excluded.at
            )
            insert into tenant_turn as t (pool, tenant_id, ahead, before, rate, held_by)
            select $1, i.tenant_id, i.ahead, i.before, i.rate, case when i.held then 'limit' end
            from unnest($2::uuid[], $3::double precision[], $4::integer[], $5::double precision[], $6::boolean[])
                as i(tenant_id, ahead, before, rate, held)
            where exists (select from tenant x where x.id = i.tenant_id)
            order by i.tenant_id
            on conflict (pool, tenant_id) do update set ahead = excluded.ahead, before = excluded.before, rate = excluded.rate,
                held_by = excluded.held_by, at = excluded.at"#,
        pool.as_str(),
        &ids,
        &ahead,
        &before,
        &rates,
        &held,
        of_pool.stopped.as_str(),
        number(of_pool.slots),
        number(of_pool.handed_out),
        of_pool.rate,
        number(of_pool.free_slots)
    );
    on_own!(db.dispatch(), "turn.keep", query.execute);
    Ok(())
}
