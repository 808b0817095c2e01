//! Alerts of spend caps: one event for each threshold in a period, also if several schedulers check at once.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::price::Micros;
use domain::spend::{ALERTS, used_up};

/// A threshold of a cap that was reached since the last check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapAlert {
    /// The tenant.
    pub tenant: TenantId,
    /// The cap's name.
    pub cap: String,
    /// Percent of its amount.
    pub percent: u8,
}

/// Checks all caps and writes the new alerts; returns them.
///
/// # Errors
/// When the database cannot answer.
pub async fn tell_used_up(db: &SchedulerDb) -> Result<Vec<CapAlert>, StoreError> {
    let query = sqlx::query!(
        r#"select p.id, p.amount, s.free as "free!", t.start as "period_start!",
                case when p.alerts_of = t.start then p.alerts::text else '{}' end as "alerts!"
            from spend_cap p
            cross join lateral (select date_trunc(p.period, now(), p.zone) as start) t
            cross join lateral (
                select sum(i.free + case when i.period_start < t.start then i.spent else 0 end)::bigint as free
                from spend_share i where i.cap_id = p.id) s
            where s.free * 2 <= p.amount order by p.id"#
    );
    let rows = named("spend.watch", query.fetch_all(db.pool())).await?;
    let (mut caps, mut starts, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let is_told = |percent: u8| row.alerts.contains(&format!("\"{percent}\":"));
        let new = used_up(Micros(row.amount), Micros(row.free)).filter(|share| !is_told(*share));
        for share in new {
            caps.push(row.id);
            starts.push(row.period_start);
            shares.push(i16::from(share));
        }
    }
    if caps.is_empty() {
        return Ok(Vec::new());
    }
    let query = sqlx::query!(
        r#"with input as materialized (
                select i.cap_id, i.period_start, min(i.share) as least, jsonb_object_agg(i.share::text, now()) as alerts
                from unnest($1::uuid[], $2::timestamptz[], $3::smallint[]) as i(cap_id, period_start, share)
                group by i.cap_id, i.period_start order by i.cap_id
            ), told as (
                update spend_cap p set alerts_of = i.period_start,
                    alerts = case when p.alerts_of = i.period_start then p.alerts else '{}' end || i.alerts
                from input i
                -- Somebody else may have told it meanwhile.
                where p.id = i.cap_id and (p.alerts_of is distinct from i.period_start or not p.alerts ?| array(select jsonb_object_keys(i.alerts)))
                returning p.tenant_id, p.name, p.amount, p.currency, i.alerts
            ), written as (
                insert into task_event (tenant_id, kind, detail)
                select t.tenant_id, 'spend_cap_used', jsonb_build_object('cap', t.name, 'percent', a.percent::integer, 'amount', t.amount,
                    'currency', t.currency)
                from told t cross join lateral jsonb_object_keys(t.alerts) a(percent)
            )
            select t.tenant_id as "tenant_id!", t.name as "name!", a.percent::integer as "percent!"
            from told t cross join lateral jsonb_object_keys(t.alerts) a(percent) order by 1, 2, 3"#,
        &caps,
        &starts,
        &shares
    );
    let rows = named("spend.tell", query.fetch_all(db.pool())).await?;
    let told = rows.into_iter().map(|row| CapAlert {
        tenant: TenantId(row.tenant_id),
        cap: row.name,
        percent: u8::try_from(row.percent).unwrap_or(ALERTS[2]),
    });
    Ok(told.collect())
}
