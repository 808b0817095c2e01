//! Reads stored output in the order in which it was written.
//!
//! Both streams of an attempt grow side by side, and their chunks are numbered together, so that a reader's place is a number in
//! each of them and the order of numbers is that of writing.

use super::{OutputChunk, OutputPosition, Stream};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::time::Timestamp;
use std::cmp::Reverse;

/// Which output to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputFilter {
    /// One attempt only.
    pub attempt: Option<u32>,
    /// One stream only.
    pub stream: Option<Stream>,
    /// From here on.
    pub from: OutputPosition,
}

/// A piece of what there is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPage {
    /// In the order of writing.
    pub chunks: Vec<OutputChunk>,
    /// There may be more after these.
    pub more: bool,
}

/// What is read of a stream is over with the chunk that fills this, so that it takes no more memory than this and one chunk
/// (64 KiB), however many there are.
pub(super) const STREAM_BYTES: i64 = 512 * 1024;

/// The first chunks that `filter` lets through: of each stream at most `limit`, and about half a MiB of them.
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
    let OutputFilter { attempt, stream, from } = filter;
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        ChunkRow,
        r#"select w.attempt as "attempt!", w.stream as "stream!", w.seq as "seq!", w."offset" as "offset!",
                w.stored_at as "stored_at!", w.data as "data!", w.found as "found!"
            from (
                (select p.*, count(*) over () as found,
                    sum(length(p.data)) over (order by p.attempt, p.seq rows unbounded preceding) - length(p.data) as before
                from (select distinct on (o.attempt, o.stream, o.seq) o.attempt, o.stream, o.seq, o."offset", o.stored_at, o.data
                    from task_output o
                    where o.tenant_id = $1 and o.task_id = $2 and o.stream = 1
                        and ($3::integer is null or o.attempt = $3) and ($4::smallint is null or $4 = 1)
                        and o.attempt >= $5::integer and (o.attempt, o.seq) >= ($5::integer, $6::integer)
                    order by o.attempt, o.stream, o.seq, o.stored_at limit $8) p)
                union all
                (select p.*, count(*) over () as found,
                    sum(length(p.data)) over (order by p.attempt, p.seq rows unbounded preceding) - length(p.data) as before
                from (select distinct on (e.attempt, e.stream, e.seq) e.attempt, e.stream, e.seq, e."offset", e.stored_at, e.data
                    from task_output e
                    where e.tenant_id = $1 and e.task_id = $2 and e.stream = 2
                        and ($3::integer is null or e.attempt = $3) and ($4::smallint is null or $4 = 2)
                        and e.attempt >= $5::integer and (e.attempt, e.seq) >= ($5::integer, $7::integer)
                    order by e.attempt, e.stream, e.seq, e.stored_at limit $8) p)
            ) w where w.before < $9"#,
        scope.tenant().uuid(),
        task.uuid(),
        attempt.map(small),
        stream.map(Stream::number),
        small(from.attempt),
        small(from.stdout),
        small(from.stderr),
        i64::from(limit),
        STREAM_BYTES
    );
    let rows = patient("output.read", query.fetch_all(&mut *tx)).await?;
    let mut sides = [Side::default(), Side::default()];
    for row in rows {
        let (chunk, found) = row.split();
        sides[chunk.stream as usize].add(from.without_skipped(chunk), found, limit);
    }
    Ok(merged(sides, |chunk| Reverse((chunk.attempt, chunk.seq, chunk.stream))))
}

pub(super) fn small(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// What was read of one stream.
#[derive(Debug, Default)]
pub(super) struct Side {
    chunks: Vec<OutputChunk>,
    found: u64,
    limit: u32,
}

impl Side {
    /// `found`: how many there were before those were left out that are too many bytes.
    pub(super) fn add(&mut self, chunk: OutputChunk, found: i64, limit: u32) {
        (self.found, self.limit) = (found.unsigned_abs(), limit);
        self.chunks.push(chunk);
    }

    /// There may be more of it.
    fn is_cut(&self) -> bool {
        !self.chunks.is_empty()
            && (self.found >= self.limit.into() || self.found > self.chunks.len() as u64)
    }
}

/// One order out of two: the chunk with the highest `rank` first. Where a side was cut, nothing may go ahead of what it has
/// still to give.
pub(super) fn merged<K: Ord>(
    [mut stdout, mut stderr]: [Side; 2],
    rank: impl Fn(&OutputChunk) -> K,
) -> OutputPage {
    let cut = [stdout.is_cut(), stderr.is_cut()];
    for side in [&mut stdout.chunks, &mut stderr.chunks] {
        side.sort_by_key(&rank);
    }
    let (stdout, stderr) = (&mut stdout.chunks, &mut stderr.chunks);
    let mut chunks = Vec::with_capacity(stdout.len() + stderr.len());
    loop {
        let next = match (stdout.last(), stderr.last()) {
            (None, None) => break,
            (None, Some(_)) if cut[0] => break,
            (Some(_), None) if cut[1] => break,
            (None, Some(_)) => stderr.pop(),
            (Some(_), None) => stdout.pop(),
            (Some(out), Some(err)) if rank(err) > rank(out) => stderr.pop(),
            (Some(_), Some(_)) => stdout.pop(),
        };
        chunks.extend(next);
    }
    OutputPage { chunks, more: cut[0] || cut[1] }
}

/// A chunk as it is read, and how many rows of its stream there were.
pub(super) struct ChunkRow {
    pub(super) attempt: i32,
    pub(super) stream: i16,
    pub(super) seq: i32,
    pub(super) offset: i64,
    pub(super) stored_at: Timestamp,
    pub(super) data: Vec<u8>,
    pub(super) found: i64,
}

impl ChunkRow {
    pub(super) fn split(self) -> (OutputChunk, i64) {
        let chunk = OutputChunk {
            attempt: self.attempt.unsigned_abs(),
            stream: Stream::numbered(self.stream),
            seq: self.seq.unsigned_abs(),
            offset: self.offset.unsigned_abs(),
            at: self.stored_at,
            data: self.data,
        };
        (chunk, self.found)
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn side(stream: Stream, places: &[(u32, u32)], limit: u32) -> Side {
        let mut side = Side::default();
        for (attempt, seq) in places {
            let at = Timestamp::UNIX_EPOCH;
            let (attempt, seq) = (*attempt, *seq);
            let chunk = OutputChunk { attempt, stream, seq, offset: 0, at, data: Vec::new() };
            side.add(chunk, places.len() as i64, limit);
        }
        side
    }

    fn shown(page: &OutputPage) -> Vec<(u32, &'static str, u32)> {
        page.chunks.iter().map(|c| (c.attempt, c.stream.as_str(), c.seq)).collect()
    }

    fn in_order(stdout: &[(u32, u32)], stderr: &[(u32, u32)], limit: u32) -> OutputPage {
        let sides = [side(Stream::Stdout, stdout, limit), side(Stream::Stderr, stderr, limit)];
        merged(sides, |chunk| Reverse((chunk.attempt, chunk.seq, chunk.stream)))
    }

    #[test]
    fn two_streams_are_merged_by_their_numbers_within_an_attempt() {
        let page = in_order(&[(1, 1), (1, 3), (2, 0)], &[(1, 0), (1, 2), (1, 7)], 10);
        let wanted = [
            (1, "stderr", 0),
            (1, "stdout", 1),
            (1, "stderr", 2),
            (1, "stdout", 3),
            (1, "stderr", 7),
            (2, "stdout", 0),
        ];
        assert_eq!((shown(&page), page.more), (wanted.to_vec(), false));
    }

    #[test]
    fn nothing_overtakes_what_a_cut_side_has_still_to_give() {
        let page = in_order(&[(1, 0), (1, 1)], &[(1, 50)], 2);
        assert_eq!((shown(&page), page.more), (vec![(1, "stdout", 0), (1, "stdout", 1)], true));
    }
}
