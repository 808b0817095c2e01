//! Stores chunks of output, many at once.

use super::Stream;
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::{SessionId, TaskId, TenantId};

/// A chunk as the executor sent it.
#[derive(Debug, Clone)]
pub struct NewChunk {
    /// Whose task.
    pub tenant: TenantId,
    /// Which task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: u32,
    /// The session that sent it; must hold the lease.
    pub session: SessionId,
    /// Which stream.
    pub stream: Stream,
    /// Counts up from 0 within the stream.
    pub seq: u32,
    /// Offset of the first byte in the stream.
    pub offset: u64,
    /// At most 64 KiB.
    pub data: Vec<u8>,
}

/// Stores the chunks whose lease is live under the sender's session; others are dropped, and a
/// chunk stored before is not stored again. Says how many were stored.
///
/// # Errors
/// When the database cannot answer.
pub async fn insert(db: &RmDb, chunks: &[NewChunk]) -> Result<u64, StoreError> {
    let tenants: Vec<_> = chunks.iter().map(|c| c.tenant.uuid()).collect();
    let tasks: Vec<_> = chunks.iter().map(|c| c.task.uuid()).collect();
    let attempts: Vec<i32> = chunks.iter().map(|c| i32::try_from(c.attempt).unwrap_or(0)).collect();
    let sessions: Vec<_> = chunks.iter().map(|c| c.session.uuid()).collect();
    let streams: Vec<i16> = chunks.iter().map(|c| c.stream.number()).collect();
    let seqs: Vec<i32> = chunks.iter().map(|c| i32::try_from(c.seq).unwrap_or(i32::MAX)).collect();
    let offsets: Vec<i64> =
        chunks.iter().map(|c| i64::try_from(c.offset).unwrap_or(i64::MAX)).collect();
    let data: Vec<&[u8]> = chunks.iter().map(|c| c.data.as_slice()).collect();
    let query = sqlx::query!(
        r#"insert into task_output (tenant_id, task_id, attempt, stream, seq, "offset", data)
            select i.tenant_id, i.task_id, i.attempt, i.stream, i.seq, i."offset", i.data
            from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::smallint[], $6::integer[], $7::bigint[],
                $8::bytea[]) as i(tenant_id, task_id, attempt, session_id, stream, seq, "offset", data)
            cross join lateral (select l.placed_at from task l where l.tenant_id = i.tenant_id and l.id = i.task_id
                and l.attempt = i.attempt and l.session_id = i.session_id limit 1) t
            -- A look-up per chunk, in the days since the lease began.
            where (exists (select from task_output o where o.tenant_id = i.tenant_id and o.task_id = i.task_id
                and o.attempt = i.attempt and o.stream = i.stream and o.seq = i.seq and o.stored_at >= t.placed_at)) is not true
            on conflict do nothing"#,
        &tenants,
        &tasks,
        &attempts,
        &sessions,
        &streams,
        &seqs,
        &offsets,
        &data as &[&[u8]]
    );
    Ok(named("output.insert", query.execute(db.pool())).await?.rows_affected())
}
