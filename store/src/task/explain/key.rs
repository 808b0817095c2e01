//! What holds a concurrency key.

use super::most::MOST;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::explain::{Holder, KeyUse};
use domain::id::TaskId;
use sqlx::PgConnection;

/// Holders that are named.
const NAMED: i64 = 5;

/// The use of `key`; whether others with it go before is not known here.
pub(super) async fn read(
    tx: &mut PgConnection,
    scope: &TenantScope,
    key: &str,
) -> Result<KeyUse, StoreError> {
    let query = sqlx::query!(
        r#"with held as materialized (
                select k.id, k.state, k.placed_at, k.placed_at + k.cap_ms * interval '1 millisecond' as ends_by from key_holder k
                where k.key = $2 limit $3
            )
            select coalesce((select c.running from concurrency_limit c where c.tenant_id = $1 and c.key = $2), 1) as "limit!",
                (select count(*) from held) as "held!", h.id as "id?", h.state::text as "state?", h.placed_at as "since?",
                h.ends_by as "ends_by?"
            from (select) one left join (select * from held order by ends_by, id limit $4) h on true"#,
        scope.tenant().uuid(),
        key,
        MOST + 1,
        NAMED
    );
    let rows = patient("task.explain_key", query.fetch_all(tx)).await?;
    let mut answer = KeyUse {
        key: key.to_owned(),
        limit: rows.first().map_or(1, |row| row.limit.unsigned_abs().into()),
        held: rows.first().map_or(0, |row| row.held.unsigned_abs()),
        holders: Vec::new(),
        others_before: false,
    };
    let holder = rows.into_iter().filter_map(|row| {
        Some(Holder {
            id: TaskId(row.id?),
            state: row.state?.parse().ok()?,
            since: row.since,
            ends_by: row.ends_by,
        })
    });
    answer.holders.extend(holder);
    Ok(answer)
}
