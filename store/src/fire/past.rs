//! How schedules and their tenants were before they were changed, where due times of then have no row yet.

use super::record::{Facts, PastState, Span};
use crate::StoreError;
use crate::schedule::read_text;
use crate::statement::named;
use crate::tenant::state_of;
use domain::id::ScheduleId;
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// Reads what was before into those `facts` to which it matters. They are locked: nothing is added any more.
pub(super) async fn read(tx: &mut PgConnection, facts: &mut [Facts]) -> Result<(), StoreError> {
    if facts.iter().any(|facts| facts.has_spans) {
        let mut spans = spans(&mut *tx, facts).await?;
        for facts in facts.iter_mut() {
            facts.spans = spans.remove(&facts.due.schedule).unwrap_or_default();
        }
    }
    let changed = |facts: &Facts| facts.state_since.is_some_and(|at| facts.due.fire_at <= at);
    if facts.iter().any(changed) {
        let states = states(tx, facts).await?;
        for facts in facts.iter_mut() {
            facts.past_states = states.get(&facts.due.tenant.uuid()).cloned().unwrap_or_default();
        }
    }
    Ok(())
}

async fn spans(
    tx: &mut PgConnection,
    facts: &[Facts],
) -> Result<HashMap<ScheduleId, Vec<Span>>, StoreError> {
    let with: Vec<_> = facts.iter().filter(|facts| facts.has_spans).collect();
    let query = sqlx::query!(
        r#"select p.schedule_id as "schedule_id!", p.version as "version!", p.until as "until!", p.timing_since as "timing_since?",
                p.timing as "timing!", p.overlap as "overlap!", p.misfire as "misfire!", p.paused as "paused!", p.workflow as "workflow?",
                case when p.version = j.version then p.template end as "template?"
            from unnest($1::uuid[], $2::timestamptz[]) as h(id, fire_at)
            left join lateral (
                select n.version from schedule_span n where n.schedule_id = h.id and n.until >= h.fire_at
                order by n.version limit 1) j on true
            cross join lateral (
                select n.* from schedule_span n where n.schedule_id = h.id order by n.version limit 1001) p
            order by p.schedule_id, p.version"#,
        &with.iter().map(|facts| facts.due.schedule.uuid()).collect::<Vec<_>>(),
        &with.iter().map(|facts| facts.due.fire_at).collect::<Vec<_>>()
    );
    let mut spans = HashMap::<_, Vec<_>>::new();
    for row in named("fire.spans", query.fetch_all(tx)).await? {
        let id = ScheduleId(row.schedule_id);
        spans.entry(id).or_default().push(Span {
            version: row.version,
            until: row.until,
            timing_since: row.timing_since,
            timing: row.timing,
            template: row.template,
            workflow: row.workflow,
            misfire: row.misfire,
            overlap: read_text("overlap", id, &row.overlap)?,
            paused: row.paused,
        });
    }
    Ok(spans)
}

async fn states(
    tx: &mut PgConnection,
    facts: &[Facts],
) -> Result<HashMap<Uuid, Vec<PastState>>, StoreError> {
    let mut first = HashMap::<Uuid, Timestamp>::new();
    for facts in facts {
        let at = first.entry(facts.due.tenant.uuid()).or_insert(facts.due.fire_at);
        *at = facts.due.fire_at.min(*at);
    }
    let (tenants, times): (Vec<_>, Vec<_>) = first.into_iter().unzip();
    let query = sqlx::query!(
        r#"select p.tenant_id as "tenant_id!", p.state as "state!", p.until as "until!"
            from unnest($1::uuid[], $2::timestamptz[]) as h(id, fire_at)
            cross join lateral (
                select n.* from tenant_past_state n where n.tenant_id = h.id and n.until >= h.fire_at
                order by n.until limit 1001) p
            order by p.tenant_id, p.until"#,
        &tenants,
        &times
    );
    let mut states = HashMap::<_, Vec<_>>::new();
    for row in named("fire.past_states", query.fetch_all(tx)).await? {
        let state = state_of(&row.state, row.tenant_id)?;
        states.entry(row.tenant_id).or_default().push(PastState { state, until: row.until });
    }
    Ok(states)
}
