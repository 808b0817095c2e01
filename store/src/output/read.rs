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

/// A piece of what there is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPage {
    /// By (attempt, stream, seq).
    pub chunks: Vec<OutputChunk>,
    /// There may be more after these.
    pub more: bool,
}

/// A page is over with the chunk that fills it, so that it takes no more memory than this and one chunk (64 KiB), however many there are.
const PAGE_BYTES: i64 = 512 * 1024;

/// The first chunks that `filter` lets through: at most `limit`, and about half a MiB of them.
///
/// # Errors
/// When the database cannot answer.
pub async fn read(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    filter: OutputFilter,
    limit: u32,
) -> Result<OutputPage, StoreError> {
    let small = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let after = filter.after.map(|p| (small(p.attempt), p.stream.number(), small(p.seq)));
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select attempt, stream, seq, "offset", stored_at, data, found as "found!" from (
                select p.*, count(*) over () as found,
                    sum(length(data)) over (order by attempt, stream, seq rows unbounded preceding) - length(data) as before
                from (
                    select distinct on (attempt, stream, seq) attempt, stream, seq, "offset", stored_at, data
                    from task_output
                    where tenant_id = $1 and task_id = $2
                        and ($3::integer is null or attempt = $3) and ($4::smallint is null or stream = $4)
                        and (attempt, stream, seq) > ($5::integer, $6::smallint, $7::integer)
                    order by attempt, stream, seq limit $8) p) q
            where before < $9 order by attempt, stream, seq"#,
        scope.tenant().uuid(),
        task.uuid(),
        filter.attempt.map(small),
        filter.stream.map(Stream::number),
        after.map_or(0, |a| a.0),
        after.map_or(0, |a| a.1),
        after.map_or(-1, |a| a.2),
        i64::from(limit),
        PAGE_BYTES
    );
    let rows = patient("output.read", query.fetch_all(&mut *tx)).await?;
    let found = rows.first().map_or(0, |row| row.found);
    let more = found >= i64::from(limit) || found > i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let chunks = rows
        .into_iter()
        .map(|row| OutputChunk {
            attempt: row.attempt.unsigned_abs(),
            stream: if row.stream == 2 { Stream::Stderr } else { Stream::Stdout },
            seq: row.seq.unsigned_abs(),
            offset: row.offset.unsigned_abs(),
            at: row.stored_at,
            data: row.data,
        })
        .collect();
    Ok(OutputPage { chunks, more })
}
