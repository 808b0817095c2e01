//! Where a reader begins who does not want all of it: from a time on, or with the last lines.

use super::read::{ChunkRow, STREAM_BYTES, Side, merged, small};
use super::tail::Tail;
use super::{OutputChunk, OutputFilter, OutputPage, OutputPosition, Stream};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::time::Timestamp;

/// Chunks of each stream read at once, backwards.
const STEP: u32 = 64;

/// The place after all that was stored before `at`.
///
/// # Errors
/// When the database cannot answer.
pub async fn since(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    at: Timestamp,
) -> Result<OutputPosition, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select w.attempt as "attempt!", w.stream as "stream!", w.seq as "seq!" from (
                (select o.attempt, o.stream, o.seq from task_output o
                    where o.tenant_id = $1 and o.task_id = $2 and o.stream = 1 and o.stored_at < $3
                    order by o.attempt desc, o.stream desc, o.seq desc limit 1)
                union all
                (select e.attempt, e.stream, e.seq from task_output e
                    where e.tenant_id = $1 and e.task_id = $2 and e.stream = 2 and e.stored_at < $3
                    order by e.attempt desc, e.stream desc, e.seq desc limit 1)
            ) w"#,
        scope.tenant().uuid(),
        task.uuid(),
        at
    );
    let rows = patient("output.since", query.fetch_all(&mut *tx)).await?;
    let attempt = rows.iter().map(|row| row.attempt.unsigned_abs()).max().unwrap_or(0);
    let mut place = OutputPosition { attempt, ..OutputPosition::default() };
    for row in rows.iter().filter(|row| row.attempt.unsigned_abs() == attempt) {
        let next = row.seq.unsigned_abs().saturating_add(1);
        match Stream::numbered(row.stream) {
            Stream::Stdout => place.stdout = next,
            Stream::Stderr => place.stderr = next,
        }
    }
    Ok(place)
}

/// The place at which the last `lines` lines begin of what `filter` lets through: `filter.from`, where there are not as many.
///
/// # Errors
/// When the database cannot answer.
pub async fn tail(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    filter: OutputFilter,
    lines: u32,
) -> Result<OutputPosition, StoreError> {
    let mut tail = Tail::new(lines);
    let mut before = OutputPosition {
        attempt: u32::MAX,
        stdout: u32::MAX,
        stderr: u32::MAX,
        ..OutputPosition::default()
    };
    loop {
        let page = read_back(db, scope, task, (filter, before)).await?;
        for chunk in &page.chunks {
            if let Some(place) = tail.add(chunk) {
                return Ok(place);
            }
            before = place_before(before, chunk);
        }
        if !page.more {
            return Ok(tail.end().unwrap_or(filter.from));
        }
    }
}

/// The place before `chunk`, for a reader who goes back.
const fn place_before(place: OutputPosition, chunk: &OutputChunk) -> OutputPosition {
    let base = if chunk.attempt == place.attempt {
        place
    } else {
        OutputPosition { attempt: chunk.attempt, stdout: u32::MAX, stderr: u32::MAX, ..place }
    };
    match chunk.stream {
        Stream::Stdout => OutputPosition { stdout: chunk.seq, ..base },
        Stream::Stderr => OutputPosition { stderr: chunk.seq, ..base },
    }
}

/// The last chunks before `before`, the newest first.
async fn read_back(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    (filter, before): (OutputFilter, OutputPosition),
) -> Result<OutputPage, StoreError> {
    let OutputFilter { attempt, stream, from } = filter;
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        ChunkRow,
        r#"select w.attempt as "attempt!", w.stream as "stream!", w.seq as "seq!", w."offset" as "offset!",
                w.stored_at as "stored_at!", w.data as "data!", w.found as "found!"
            from (
                (select p.*, count(*) over () as found,
                    sum(length(p.data)) over (order by p.attempt desc, p.seq desc rows unbounded preceding) - length(p.data) as before
                from (select distinct on (o.attempt, o.stream, o.seq) o.attempt, o.stream, o.seq, o."offset", o.stored_at, o.data
                    from task_output o
                    where o.tenant_id = $1 and o.task_id = $2 and o.stream = 1
                        and ($3::integer is null or o.attempt = $3) and ($4::smallint is null or $4 = 1)
                        and (o.attempt, o.seq) >= ($5::integer, $6::integer)
                        and o.attempt <= $8::integer and (o.attempt, o.seq) < ($8::integer, $9::integer)
                    order by o.attempt desc, o.stream desc, o.seq desc, o.stored_at limit $11) p)
                union all
                (select p.*, count(*) over () as found,
                    sum(length(p.data)) over (order by p.attempt desc, p.seq desc rows unbounded preceding) - length(p.data) as before
                from (select distinct on (e.attempt, e.stream, e.seq) e.attempt, e.stream, e.seq, e."offset", e.stored_at, e.data
                    from task_output e
                    where e.tenant_id = $1 and e.task_id = $2 and e.stream = 2
                        and ($3::integer is null or e.attempt = $3) and ($4::smallint is null or $4 = 2)
                        and (e.attempt, e.seq) >= ($5::integer, $7::integer)
                        and e.attempt <= $8::integer and (e.attempt, e.seq) < ($8::integer, $10::integer)
                    order by e.attempt desc, e.stream desc, e.seq desc, e.stored_at limit $11) p)
            ) w where w.before < $12"#,
        scope.tenant().uuid(),
        task.uuid(),
        attempt.map(small),
        stream.map(Stream::number),
        small(from.attempt),
        small(from.stdout),
        small(from.stderr),
        small(before.attempt),
        small(before.stdout),
        small(before.stderr),
        i64::from(STEP),
        STREAM_BYTES
    );
    let rows = patient("output.read_back", query.fetch_all(&mut *tx)).await?;
    let mut sides = [Side::default(), Side::default()];
    for row in rows {
        let (chunk, found) = row.split();
        sides[chunk.stream as usize].add(chunk, found, STEP);
    }
    Ok(merged(sides, |chunk| (chunk.attempt, chunk.seq, chunk.stream)))
}
