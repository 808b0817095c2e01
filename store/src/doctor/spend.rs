//! Spend caps against the reservations in the rows of tasks, of tenants that hold few enough.

use super::{Check, DoctorOptions, Finding, one};
use crate::StoreError;
use crate::statement::patient;
use sqlx::PgConnection;

pub(super) async fn check(
    tx: &mut PgConnection,
    options: &DoctorOptions,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"with picked as materialized (
                select c.id, c.tenant_id, c.name, c.amount from spend_cap c order by random() limit 200
            ), live as materialized (
                select r.tenant_id, r.held, r.reservations from (select distinct p.tenant_id from picked p) t
                cross join lateral (
                    select t.tenant_id, count(*) as held, array_agg(l.reservation) filter (where l.reservation is not null) as reservations
                    from (select o.reservation from task o where o.tenant_id = t.tenant_id limit $1::bigint + 1) l) r
                where r.held <= $1::bigint
            ), reserved as (
                select cap.id::uuid as id, sum((r.reservation ->> 'amount')::bigint) as amount
                from live l cross join unnest(l.reservations) as r(reservation)
                cross join lateral jsonb_array_elements_text(r.reservation -> 'caps') cap(id)
                group by 1
            ), wrong as (
                select p.tenant_id || ' ' || p.name as cap from picked p join live l on l.tenant_id = p.tenant_id
                left join reserved r on r.id = p.id
                where p.amount <> coalesce(r.amount, 0) + (select sum(s.free + s.spent) from spend_share s where s.cap_id = p.id)
            )
            select (select count(*) from wrong) as "wrong!", (select w.cap from wrong w order by 1 limit 1) as example"#,
        i64::from(options.sample)
    );
    let row = patient("doctor.spend", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![Finding { check: Check::SpendCapWrong, count: row.wrong, example: row.example }])
}
