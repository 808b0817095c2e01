//! Reads stored output in the order in which a person would.

use super::Stream;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::time::Timestamp;

/// Where a reader is: after this chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputPosition {
    /// The attempt.
    pub attempt: u32,
    /// The stream.
    pub stream: Stream,
    /// The chunk.
    pub seq: u32,
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// The attempt that wrote it.
    pub attempt: u32,
    /// The stream.
    pub stream: Stream,
    /// Counts up from 0 within (attempt, stream).
    pub seq: u32,
    /// Offset of the first byte; a jump against the chunk before means bytes left out.
    pub offset: u64,
    /// When it was stored.
    pub at: Timestamp,
    /// The bytes.
    pub data: Vec<u8>,
}

/// Which output to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputFilter {
    /// One attempt only.
    pub attempt: Option<u32>,
    /// One stream only.
    pub stream: Option<Stream>,
    /// After this chunk.
    pub after: Option<OutputPosition>,
}

/// Chunks by (attempt, stream, seq), at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    filter: OutputFilter,
    limit: u32,
) -> Result<Vec<OutputChunk>, StoreError> {
    let small = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let after = filter.after.map(|p| (small(p.attempt), p.stream.number(), small(p.seq)));
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select distinct on (attempt, stream, seq) attempt, stream, seq, "offset", stored_at, data
            from task_output
            where tenant_id = $1 and task_id = $2
                and ($3::integer is null or attempt = $3) and ($4::smallint is null or stream = $4)
                and (attempt, stream, seq) > ($5::integer, $6::smallint, $7::integer)
            order by attempt, stream, seq limit $8"#,
        scope.tenant().uuid(),
        task.uuid(),
        filter.attempt.map(small),
        filter.stream.map(Stream::number),
        after.map_or(0, |a| a.0),
        after.map_or(0, |a| a.1),
        after.map_or(-1, |a| a.2),
        i64::from(limit)
    );
    let rows = patient("output.read", query.fetch_all(&mut *tx)).await?;
    Ok(rows
        .into_iter()
        .map(|row| OutputChunk {
            attempt: row.attempt.unsigned_abs(),
            stream: if row.stream == 2 { Stream::Stderr } else { Stream::Stdout },
            seq: row.seq.unsigned_abs(),
            offset: row.offset.unsigned_abs(),
            at: row.stored_at,
            data: row.data,
        })
        .collect())
}
