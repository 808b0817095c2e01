//! `released`, for a parent with more children than its own end decides: a piece at a time, until none are left.
//!
//! Called by the schedulers, several at once. A first statement locks parents that ended, and a second one, which sees all edges that were
//! stored before, decides a piece of their edges. Both commit together: after a crash the edges are still there, and counted once.

use super::release::{PIECE, release_children};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use uuid::Uuid;

/// What one piece did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReleasedPiece {
    /// Edges that were decided.
    pub edges: u64,
    /// Children that are ready now.
    pub ready: u64,
    /// Parents that were read: 0 where none was left, or others hold them.
    pub parents: u64,
}

/// Decides up to 500 edges of parents that ended, the longest ended first.
///
/// # Errors
/// When the database cannot answer; then nothing was decided.
pub async fn released(db: &SchedulerDb) -> Result<ReleasedPiece, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let query = sqlx::query!(
            r#"select tenant_id, parent_id from task_release order by ended_at limit $1 for update skip locked"#,
            PARENTS
        );
        let parents = named("released.lock", query.fetch_all(&mut *tx)).await?;
        if parents.is_empty() {
            return Ok(ReleasedPiece::default());
        }
        let tenants: Vec<Uuid> = parents.iter().map(|parent| parent.tenant_id).collect();
        let ids: Vec<Uuid> = parents.iter().map(|parent| parent.parent_id).collect();
        let query = release_children!(
            "with parent as materialized (
                select r.tenant_id, r.parent_id, r.state as ended
                from unnest($1::uuid[], $2::uuid[]) as i(tenant_id, parent_id)
                cross join lateral (
                    select f.* from task_release f where f.tenant_id = i.tenant_id and f.parent_id = i.parent_id limit 1) r
            ), picked as materialized (
                select e.tenant_id, e.parent_id, e.child_id, e.place, p.ended from parent p
                cross join lateral (
                    select f.* from task_edge f where f.tenant_id = p.tenant_id and f.parent_id = p.parent_id
                    order by f.child_id, f.place limit $3) e
                limit $3
            ), edge as (
                delete from task_edge e using picked k
                where e.tenant_id = any (array[k.tenant_id]) and e.parent_id = k.parent_id and e.child_id = k.child_id
                    and e.place = k.place
                returning e.tenant_id, e.parent_id, e.child_id, e.condition, k.ended
            ), done as (
                -- All that were read to their end: of the last one there may be more.
                delete from task_release r using parent p
                where r.tenant_id = any (array[p.tenant_id]) and r.parent_id = p.parent_id
                    and (select count(*) from picked) < $3
            )",
            edges: "select tenant_id, parent_id, child_id, condition, ended from edge",
            answer: r#"select (select count(*) from edge) as "edges!",
                (select count(*) from child where state = 'ready') as "ready!""#,
            &tenants,
            &ids,
            PIECE
        );
        let rows = named("released", query.fetch_all(&mut *tx)).await?;
        let piece = rows.first().map(|row| ReleasedPiece {
            edges: row.edges.unsigned_abs(),
            ready: row.ready.unsigned_abs(),
            parents: parents.len() as u64,
        });
        named("commit", tx.commit()).await?;
        Ok(piece.unwrap_or_default())
    })
    .await
}

/// Parents that are read at once.
const PARENTS: i64 = 20;
