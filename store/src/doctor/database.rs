//! What Postgres itself needs: room, short transactions, partitions.

use super::Check;
use super::{DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use domain::time::millis;
use sqlx::PgConnection;

pub(super) const TRANSACTIONS: [Check; 2] = [Check::OldTransaction, Check::IdleInTransaction];
pub(super) const PARTITIONS: [Check; 2] = [Check::PartitionsMissing, Check::PartitionStrays];

/// Tables that are mostly dead rows, and were not cleaned up lately.
pub(super) async fn bloat(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", (array_agg(s.relname || ': ' || s.n_dead_tup || ' dead rows, ' || s.n_live_tup || ' live'
                order by s.n_dead_tup desc))[1] as example
            from pg_stat_user_tables s
            where s.n_dead_tup > $1 and s.n_dead_tup > s.n_live_tup
                and coalesce(greatest(s.last_vacuum, s.last_autovacuum), '-infinity') < now() - $2 * interval '1 millisecond'"#,
        options.dead_rows,
        millis(options.unvacuumed) as f64
    );
    let row = patient("doctor.bloat", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![Finding { check: Check::Bloat, count: row.count, example: row.example }])
}

/// Transactions that are open for long, prepared ones too, and those in which nothing happens.
pub(super) async fn transactions(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"with open as materialized (
                select t.pid::text as name, t.login, t.state, t.began_at, t.changed_at from berth_transactions() t
                union all
                select p.gid, p.owner::text, 'prepared', p.prepared, p.prepared from pg_prepared_xacts p
                where p.database = current_database()
            ), old as (
                select o.name || ' of ' || coalesce(o.login, '?') as what, o.began_at from open o
                where o.began_at < clock_timestamp() - $1 * interval '1 millisecond'
            ), idle as (
                select o.name || ' of ' || coalesce(o.login, '?') as what, o.changed_at from open o
                where o.state like 'idle in transaction%' and o.changed_at < clock_timestamp() - $2 * interval '1 millisecond'
            )
            select (select count(*) from old) as "old!", (select o.what from old o order by o.began_at limit 1) as oldest,
                (select count(*) from idle) as "idle!", (select i.what from idle i order by i.changed_at limit 1) as idlest"#,
        millis(options.transaction) as f64,
        millis(options.idle) as f64
    );
    let row = patient("doctor.transactions", query.fetch_optional(tx)).await.and_then(one)?;
    let pid = |what: Option<String>| what.map(|what| format!("pid {what}"));
    Ok(vec![
        Finding { check: Check::OldTransaction, count: row.old, example: pid(row.oldest) },
        Finding { check: Check::IdleInTransaction, count: row.idle, example: pid(row.idlest) },
    ])
}

/// Partitions of today and the days ahead, and rows that are in none.
pub(super) async fn partitions(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(d.child) as example from (
                select p.parent || '_' || to_char((now() at time zone 'UTC')::date + n.day, 'YYYYMMDD') as child
                from unnest(array['task_spec', 'task_history', 'attempt', 'task_output', 'schedule_fire', 'task_event', 'task_result']) as p(parent)
                cross join generate_series(0, $1::integer) as n(day)) d
            where to_regclass('public.' || d.child) is null"#,
        i32::from(options.days_ahead)
    );
    let missing =
        patient("doctor.partitions", query.fetch_optional(&mut *tx)).await.and_then(one)?;
    let query = sqlx::query_scalar!(r#"select berth_partitions_strays() as "strays!""#);
    let strays = patient("doctor.strays", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![
        Finding { check: Check::PartitionsMissing, count: missing.count, example: missing.example },
        Finding {
            check: Check::PartitionStrays,
            count: strays,
            example: Some("a default partition".to_owned()),
        },
    ])
}
