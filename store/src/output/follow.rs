//! Reads output while it is being written: what is new, and whether anything is.
//!
//! Both streams of an attempt grow side by side, so a follower's place is a number in each of them. Asked for by the api's
//! live logs: [`pulses`] once for all followed tasks of a tenant, [`read_from`] only where a pulse has changed.

use super::{OutputChunk, Stream};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use domain::task::State;
use std::cmp::Reverse;

/// Where a follower is: the next chunk it wants of each stream of an attempt, and everything of later attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowPosition {
    /// The attempt; 0 before the first.
    pub attempt: u32,
    /// Next `seq` of standard output.
    pub stdout: u32,
    /// Next `seq` of standard error.
    pub stderr: u32,
}

impl FollowPosition {
    /// The place after `chunk`.
    #[must_use]
    pub const fn after(self, chunk: &OutputChunk) -> Self {
        let base = if chunk.attempt == self.attempt {
            self
        } else {
            Self { attempt: chunk.attempt, stdout: 0, stderr: 0 }
        };
        let next = chunk.seq.saturating_add(1);
        match chunk.stream {
            Stream::Stdout => Self { stdout: next, ..base },
            Stream::Stderr => Self { stderr: next, ..base },
        }
    }
}

/// What a follower compares: any difference to the pulse before means that there may be something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// The task.
    pub task: TaskId,
    /// Its state.
    pub state: State,
    /// Its latest attempt; 0 before the first.
    pub attempt: u32,
    /// Newest chunk of that attempt's standard output within the last hour.
    pub stdout: Option<u32>,
    /// Newest chunk of that attempt's standard error within the last hour.
    pub stderr: Option<u32>,
}

/// The pulses of those of `tasks` that this tenant has, in any order. Looks only at output of the last hour: a follower
/// reads what is older before it waits.
///
/// # Errors
/// When the database cannot answer.
pub async fn pulses(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &[TaskId],
) -> Result<Vec<Pulse>, StoreError> {
    let ids: Vec<_> = tasks.iter().map(|id| id.uuid()).collect();
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select i.id as "id!", coalesce(t.state, h.state)::text as "state!",
                coalesce(t.attempt, h.attempt) as "attempt!", o.seq as "stdout?", e.seq as "stderr?"
            from unnest($2::uuid[]) as i(id)
            left join lateral (select l.state, l.attempt from task l where l.tenant_id = $1 and l.id = i.id limit 1) t on true
            left join lateral (select p.state, p.attempt from task_history p
                where p.tenant_id = $1 and p.id = i.id and t.state is null limit 1) h on true
            left join lateral (select c.seq from task_output c where c.tenant_id = $1 and c.task_id = i.id
                and c.attempt = coalesce(t.attempt, h.attempt) and c.stream = 1
                and c.stored_at >= now() - interval '1 hour' order by c.seq desc limit 1) o on true
            left join lateral (select c.seq from task_output c where c.tenant_id = $1 and c.task_id = i.id
                and c.attempt = coalesce(t.attempt, h.attempt) and c.stream = 2
                and c.stored_at >= now() - interval '1 hour' order by c.seq desc limit 1) e on true
            where coalesce(t.state, h.state) is not null"#,
        scope.tenant().uuid(),
        &ids
    );
    let rows = patient("output.pulses", query.fetch_all(&mut *tx)).await?;
    rows.into_iter()
        .map(|row| {
            let state = row.state.parse().map_err(|_| StoreError::Malformed {
                what: "state",
                row: row.id.to_string(),
                value: row.state.clone(),
            })?;
            Ok(Pulse {
                task: TaskId(row.id),
                state,
                attempt: row.attempt.unsigned_abs(),
                stdout: row.stdout.map(i32::unsigned_abs),
                stderr: row.stderr.map(i32::unsigned_abs),
            })
        })
        .collect()
}

/// Chunks from `from` on, up to `limit` of each stream; within an attempt in the order in which they were stored, and
/// within a stream always in that of writing. Also tells whether there may be more at once.
///
/// # Errors
/// When the database cannot answer.
pub async fn read_from(
    db: &ApiDb,
    scope: &TenantScope,
    task: TaskId,
    from: FollowPosition,
    limit: u32,
) -> Result<(Vec<OutputChunk>, bool), StoreError> {
    let small = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select w.attempt as "attempt!", w.stream as "stream!", w.seq as "seq!", w."offset" as "offset!",
                w.stored_at as "stored_at!", w.data as "data!"
            from (
                (select o.attempt, o.stream, o.seq, o."offset", o.stored_at, o.data from task_output o
                    where o.tenant_id = $1 and o.task_id = $2 and o.stream = 1
                        and (o.attempt, o.seq) >= ($3::integer, $4::integer)
                    order by o.attempt, o.stream, o.seq limit $6)
                union all
                (select e.attempt, e.stream, e.seq, e."offset", e.stored_at, e.data from task_output e
                    where e.tenant_id = $1 and e.task_id = $2 and e.stream = 2
                        and (e.attempt, e.seq) >= ($3::integer, $5::integer)
                    order by e.attempt, e.stream, e.seq limit $6)
            ) w"#,
        scope.tenant().uuid(),
        task.uuid(),
        small(from.attempt),
        small(from.stdout),
        small(from.stderr),
        i64::from(limit)
    );
    let rows = patient("output.read_from", query.fetch_all(&mut *tx)).await?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for row in rows {
        let stream = if row.stream == 2 { Stream::Stderr } else { Stream::Stdout };
        let side = if stream == Stream::Stdout { &mut stdout } else { &mut stderr };
        side.push(OutputChunk {
            attempt: row.attempt.unsigned_abs(),
            stream,
            seq: row.seq.unsigned_abs(),
            offset: row.offset.unsigned_abs(),
            at: row.stored_at,
            data: row.data,
        });
    }
    Ok(merged(stdout, stderr, limit as usize))
}

/// One order out of two. Where a side was cut at `limit`, nothing may go ahead of what it has still to give.
fn merged(
    mut stdout: Vec<OutputChunk>,
    mut stderr: Vec<OutputChunk>,
    limit: usize,
) -> (Vec<OutputChunk>, bool) {
    let cut = [stdout.len() >= limit, stderr.len() >= limit];
    // A chunk that was stored twice, by two resource managers on two days, is one.
    for side in [&mut stdout, &mut stderr] {
        side.sort_by_key(|chunk| Reverse((chunk.attempt, chunk.seq)));
        side.dedup_by_key(|chunk| (chunk.attempt, chunk.seq));
    }
    let mut all = Vec::with_capacity(stdout.len() + stderr.len());
    loop {
        let next = match (stdout.last(), stderr.last()) {
            (None, None) => break,
            (None, Some(_)) if cut[0] => break,
            (Some(_), None) if cut[1] => break,
            (None, Some(_)) => stderr.pop(),
            (Some(_), None) => stdout.pop(),
            (Some(out), Some(err)) => {
                if (out.attempt, out.at) <= (err.attempt, err.at) {
                    stdout.pop()
                } else {
                    stderr.pop()
                }
            }
        };
        all.extend(next);
    }
    (all, cut[0] || cut[1])
}

/// Drops what a follower of this attempt or stream does not want.
#[must_use]
pub fn wanted(chunk: &OutputChunk, attempt: Option<u32>, stream: Option<Stream>) -> bool {
    attempt.is_none_or(|attempt| attempt == chunk.attempt)
        && stream.is_none_or(|stream| stream == chunk.stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;
    use std::time::Duration;

    fn chunk(attempt: u32, stream: Stream, seq: u32, at_ms: u64) -> OutputChunk {
        let at = Timestamp::UNIX_EPOCH + Duration::from_millis(at_ms);
        OutputChunk { attempt, stream, seq, offset: 0, at, data: Vec::new() }
    }

    fn shown(chunks: &[OutputChunk]) -> Vec<(u32, &'static str, u32)> {
        chunks.iter().map(|c| (c.attempt, c.stream.as_str(), c.seq)).collect()
    }

    #[test]
    fn two_streams_are_merged_by_time_within_an_attempt() {
        let stdout = vec![
            chunk(1, Stream::Stdout, 0, 1),
            chunk(1, Stream::Stdout, 1, 5),
            chunk(2, Stream::Stdout, 0, 9),
        ];
        let stderr = vec![chunk(1, Stream::Stderr, 0, 3), chunk(1, Stream::Stderr, 1, 30)];
        let (all, more) = merged(stdout, stderr, 10);
        let wanted = [
            (1, "stdout", 0),
            (1, "stderr", 0),
            (1, "stdout", 1),
            (1, "stderr", 1),
            (2, "stdout", 0),
        ];
        assert_eq!((shown(&all), more), (wanted.to_vec(), false));
    }

    #[test]
    fn nothing_overtakes_what_a_cut_side_has_still_to_give() {
        let stdout = vec![chunk(1, Stream::Stdout, 0, 1), chunk(1, Stream::Stdout, 1, 2)];
        let stderr = vec![chunk(1, Stream::Stderr, 0, 50)];
        let (all, more) = merged(stdout, stderr, 2);
        assert_eq!((shown(&all), more), (vec![(1, "stdout", 0), (1, "stdout", 1)], true));
    }

    #[test]
    fn a_chunk_stored_twice_is_one_and_a_position_counts_each_stream_by_itself() {
        let twice = vec![chunk(1, Stream::Stdout, 4, 1), chunk(1, Stream::Stdout, 4, 9)];
        let (all, _) = merged(twice, Vec::new(), 10);
        assert_eq!(all.len(), 1);
        let at = FollowPosition { attempt: 1, stdout: 4, stderr: 7 }.after(&all[0]);
        assert_eq!(at, FollowPosition { attempt: 1, stdout: 5, stderr: 7 });
        let later = at.after(&chunk(2, Stream::Stderr, 0, 1));
        assert_eq!(later, FollowPosition { attempt: 2, stdout: 0, stderr: 1 });
    }
}
