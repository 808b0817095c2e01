//! What is granted on each executor against what it has.

use super::Check;
use super::tasks::task_id;
use super::{Finding, one};
use crate::StoreError;
use crate::statement::patient;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 2] = [Check::CapacityExceeded, Check::PortsOverlap];

/// The sum of the live leases of each session, in each dimension; and their ports.
pub(super) async fn check(tx: &mut PgConnection) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(s.executor_id || ': ' || d.granted || ' of ' || d.capacity || ' ' || d.dimension) as example
            from (
                select t.session_id, sum(t.cpu_millis) as cpu, sum(t.memory_mib) as memory, sum(t.disk_mib) as disk,
                    sum(t.iops) as iops, sum(t.ports) as ports
                from task t where t.session_id is not null and t.wake_at is not null group by t.session_id) g
            join executor_session s on s.id = g.session_id and s.ended_at is null
            cross join lateral (values ('cpu_millis', g.cpu, s.cpu_millis), ('memory_mib', g.memory, s.memory_mib),
                ('disk_mib', g.disk, s.disk_mib), ('iops', g.iops, s.iops), ('ports', g.ports, s.port_count))
                as d(dimension, granted, capacity)
            where d.granted > d.capacity"#
    );
    let sums = patient("doctor.capacity", query.fetch_optional(&mut *tx)).await.and_then(one)?;
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(p.id::text) as example
            from (
                select t.id, t.port_first, t.port_first + t.ports as upto, s.port_first as least, s.port_first + s.port_count as most,
                    max(t.port_first + t.ports) over (partition by t.session_id order by t.port_first, t.id
                        rows between unbounded preceding and 1 preceding) as taken
                from task t join executor_session s on s.id = t.session_id and s.ended_at is null
                where t.session_id is not null and t.wake_at is not null and t.ports > 0 and t.port_first is not null) p
            where p.port_first < p.taken or p.port_first < p.least or p.upto > p.most"#
    );
    let ports = patient("doctor.ports", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![
        Finding { check: Check::CapacityExceeded, count: sums.count, example: sums.example },
        Finding {
            check: Check::PortsOverlap,
            count: ports.count,
            example: ports.example.as_deref().map(task_id),
        },
    ])
}
