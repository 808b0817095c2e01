//! The tasks that a task waits for.

use crate::statement::patient;
use crate::task::spec;
use crate::{StoreError, TenantScope};
use domain::explain::{OpenParent, OpenParents, Reason};
use domain::id::TaskId;
use domain::task::State;
use sqlx::PgConnection;
use std::collections::HashMap;
use uuid::Uuid;

/// Parents that are named.
const MOST: usize = 20;

/// What a task waits for that needs so many more of its parents, of which so many are undecided.
pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: TaskId,
    (needs, undecided): (u64, u64),
) -> Result<Reason, StoreError> {
    let query = sqlx::query_scalar!(
        "select s.depends_on from task_spec s where s.id = $1 limit 1",
        id.uuid()
    );
    let text = patient("task.explain_depends_on", query.fetch_optional(&mut *tx)).await?.flatten();
    let edges = spec::depends_on(text.as_deref()).map(|all| all.edges).unwrap_or_default();
    let ids: Vec<Uuid> = edges.iter().map(|edge| edge.parent.uuid()).collect();
    let query = sqlx::query!(
        r#"select i.id as "id!", t.state::text as "state!" from unnest($2::uuid[]) as i(id)
            cross join lateral (
                select l.state from task l where l.tenant_id = $1 and l.id = i.id limit 1) t"#,
        scope.tenant().uuid(),
        &ids
    );
    let rows = patient("task.explain_parents", query.fetch_all(tx)).await?;
    let states: HashMap<Uuid, State> =
        rows.into_iter().filter_map(|row| Some((row.id, row.state.parse().ok()?))).collect();
    let open = edges.iter().filter_map(|edge| {
        let state = *states.get(&edge.parent.uuid())?;
        Some(OpenParent { id: edge.parent, state, on: edge.on })
    });
    Ok(Reason::Parents(OpenParents { needs, undecided, waits_for: open.take(MOST).collect() }))
}
