//! Reservations of tasks that are stored: of nodes whose turn has come, and of tasks that change.

use super::spec::labels;
use crate::StoreError;
use crate::spend::{Accepting, Candidate, CapRefusal, Shares};
use crate::statement::named;
use domain::id::{TaskId, TenantId};
use domain::price::{Micros, Reservation, Use};
use domain::resources::Resources;
use domain::task::Labels;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

struct StoredTask {
    task: TaskId,
    tenant: TenantId,
    most: Use,
    attempts: u32,
    labels: Labels,
    is_fired: bool,
    schedule: Option<String>,
    before: Option<Reservation>,
    spent: Micros,
}

impl StoredTask {
    fn reservation(&self, accepting: &Accepting) -> Option<Reservation> {
        accepting.reservation(&Candidate {
            tenant: self.tenant,
            most: self.most,
            attempts: self.attempts,
            labels: &self.labels,
            is_fired: self.is_fired,
            schedule: self.schedule.as_deref(),
        })
    }
}

struct TaskRow {
    tenant_id: Uuid,
    id: Uuid,
    tier: Option<String>,
    cpu_millis: i32,
    memory_mib: i32,
    disk_mib: i32,
    iops: i32,
    ports: i32,
    cap_ms: i64,
    tolerance_s: i64,
    flexible: bool,
    max_attempts: i32,
    reservation: Option<String>,
    spent: Option<i64>,
    labels: Option<String>,
    schedule: Option<String>,
    is_fired: bool,
}

/// Takes what `tasks` reserve that have nothing reserved; the caller has locked their rows. Those of which a cap has no room stay without.
pub(crate) async fn reserve(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId)],
) -> Result<HashMap<TaskId, CapRefusal>, StoreError> {
    let accepting = Accepting::read(&mut *tx, tasks.iter().map(|(tenant, _)| *tenant)).await?;
    let capped: Vec<_> =
        tasks.iter().copied().filter(|(tenant, _)| accepting.has(*tenant)).collect();
    if capped.is_empty() {
        return Ok(HashMap::new());
    }
    let mut stored = read(&mut *tx, &capped).await?;
    stored.retain(|one| one.before.is_none());
    let wanted: Vec<(&StoredTask, Reservation)> =
        stored.iter().filter_map(|one| Some((one, one.reservation(&accepting)?))).collect();
    let mut shares = Shares::lock(&mut *tx, wanted.iter().map(|(_, of)| of)).await?;
    let (mut refused, mut taken) = (HashMap::new(), Vec::new());
    for (one, reservation) in wanted {
        match shares.take(&reservation) {
            Ok(()) => taken.push((one.task, reservation)),
            Err(refusal) => drop(refused.insert(one.task, refusal)),
        }
    }
    shares.write(&mut *tx).await?;
    write(tx, &taken).await?;
    Ok(refused)
}

/// What a task would reserve that has nothing reserved. `None`: its tenant has no caps.
pub(crate) async fn would_reserve(
    tx: &mut PgConnection,
    key: (TenantId, TaskId),
) -> Result<Option<Reservation>, StoreError> {
    let accepting = Accepting::read(&mut *tx, [key.0].into_iter()).await?;
    if !accepting.has(key.0) {
        return Ok(None);
    }
    let one = read(tx, &[key]).await?.pop().filter(|one| one.before.is_none());
    Ok(one.and_then(|one| one.reservation(&accepting)))
}

/// Reserves again for a task with a reservation that has changed, in the transaction of the change. `Some`: a cap has no room for it; undo
/// the change.
pub(crate) async fn reserve_again(
    tx: &mut PgConnection,
    key: (TenantId, TaskId),
) -> Result<Option<CapRefusal>, StoreError> {
    let Some(one) = read(&mut *tx, &[key]).await?.pop() else { return Ok(None) };
    let Some(before) = &one.before else { return Ok(None) };
    let accepting = Accepting::read(&mut *tx, [key.0].into_iter()).await?;
    // What it has cost stays reserved beside what it can cost now: prices may have changed.
    let after = one.reservation(&accepting).map(|after| after.with(one.spent));
    let both = [Some(before), after.as_ref()];
    let mut shares = Shares::lock(&mut *tx, both.into_iter().flatten()).await?;
    shares.give_back(before);
    let refused = after.as_ref().and_then(|after| shares.take(after).err());
    if refused.is_none() {
        shares.write(&mut *tx).await?;
        let after = after.unwrap_or_else(|| before.of_no_cap());
        write(tx, &[(one.task, after)]).await?;
    }
    Ok(refused)
}

async fn read(
    tx: &mut PgConnection,
    tasks: &[(TenantId, TaskId)],
) -> Result<Vec<StoredTask>, StoreError> {
    let tenants: Vec<Uuid> = tasks.iter().map(|(tenant, _)| tenant.uuid()).collect();
    let ids: Vec<Uuid> = tasks.iter().map(|(_, task)| task.uuid()).collect();
    let query = sqlx::query_as!(
        TaskRow,
        r#"select t.tenant_id as "tenant_id!", t.id as "id!", t.tier::text, t.cpu_millis as "cpu_millis!", t.memory_mib as "memory_mib!",
                t.disk_mib as "disk_mib!", t.iops as "iops!", t.ports as "ports!", t.cap_ms as "cap_ms!",
                extract(epoch from t.start_deadline - t.run_at)::bigint as "tolerance_s!", t.flexible as "flexible!",
                t.max_attempts as "max_attempts!", t.reservation::text, t.spent, s.labels as "labels?",
                coalesce(s.schedule_name, r.schedule_name) as schedule,
                berth_bears_fire(t.id, s.schedule_id, s.rerun_of, t.run_id, r.fire_task) as "is_fired!"
            from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, id)
            cross join lateral (select l.* from task l where l.tenant_id = i.tenant_id and l.id = i.id limit 1) t
            cross join lateral (select f.labels::text as labels, f.schedule_name, f.schedule_id, f.rerun_of from task_spec f
                where f.id = t.id and f.tenant_id = t.tenant_id limit 1) s
            left join lateral (select w.schedule_name, w.fire_task from workflow_run w
                where w.tenant_id = t.tenant_id and w.id = t.run_id limit 1) r on t.run_id is not null
            order by t.tenant_id, t.id"#,
        &tenants,
        &ids
    );
    let rows = named("spend.of_tasks", query.fetch_all(tx)).await?;
    let read = |text: String| {
        serde_json::from_str(&text).map_err(|_| StoreError::Malformed {
            what: "reservation",
            row: "a task".into(),
            value: text.chars().take(200).collect(),
        })
    };
    let one = |row: TaskRow| {
        Ok(StoredTask {
            task: TaskId(row.id),
            tenant: TenantId(row.tenant_id),
            most: Use {
                resources: Resources {
                    cpu_millis: row.cpu_millis.unsigned_abs(),
                    memory_mib: row.memory_mib.unsigned_abs(),
                    disk_mib: row.disk_mib.unsigned_abs(),
                    iops: row.iops.unsigned_abs(),
                    ports: row.ports.unsigned_abs(),
                },
                tier: row.tier.and_then(|tier| tier.parse().ok()),
                ms: row.cap_ms.unsigned_abs(),
                tolerance_s: Some(row.tolerance_s.unsigned_abs()),
                flexible: row.flexible,
            },
            attempts: row.max_attempts.unsigned_abs(),
            labels: labels(row.labels.as_deref()),
            is_fired: row.is_fired,
            schedule: row.schedule,
            before: row.reservation.map(read).transpose()?,
            spent: Micros(row.spent.unwrap_or(0)),
        })
    };
    rows.into_iter().map(one).collect()
}

async fn write(tx: &mut PgConnection, taken: &[(TaskId, Reservation)]) -> Result<(), StoreError> {
    let ids: Vec<Uuid> = taken.iter().map(|(task, _)| task.uuid()).collect();
    let texts: Vec<String> =
        taken.iter().map(|(_, of)| serde_json::to_string(of).unwrap_or_default()).collect();
    let query = sqlx::query!(
        "update task t set reservation = i.reservation::jsonb
            from unnest($1::uuid[], $2::text[]) as i(id, reservation) where t.id = any (array[i.id])",
        &ids,
        &texts
    );
    named("spend.reserve", query.execute(tx)).await.map(drop)
}
