//! Stores chunks of output, many at once.

use super::Stream;
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::task::LeaseKey;

/// A chunk as the executor sent it.
#[derive(Debug, Clone)]
pub struct NewChunk {
    /// The attempt that wrote it; its session must hold the lease.
    pub lease: LeaseKey,
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
/// chunk stored before is not stored again. What a tenant's plan has no room for is dropped too, and its attempt remembers
/// that. Says how many were stored.
///
/// # Errors
/// When the database cannot answer.
pub async fn insert(db: &RmDb, chunks: &[NewChunk]) -> Result<u64, StoreError> {
    let tenants: Vec<_> = chunks.iter().map(|c| c.lease.tenant.uuid()).collect();
    let tasks: Vec<_> = chunks.iter().map(|c| c.lease.task.uuid()).collect();
    let attempts: Vec<i32> =
        chunks.iter().map(|c| i32::try_from(c.lease.attempt).unwrap_or(0)).collect();
    let sessions: Vec<_> = chunks.iter().map(|c| c.lease.session.uuid()).collect();
    let streams: Vec<i16> = chunks.iter().map(|c| c.stream.number()).collect();
    let seqs: Vec<i32> = chunks.iter().map(|c| i32::try_from(c.seq).unwrap_or(i32::MAX)).collect();
    let offsets: Vec<i64> =
        chunks.iter().map(|c| i64::try_from(c.offset).unwrap_or(i64::MAX)).collect();
    let data: Vec<&[u8]> = chunks.iter().map(|c| c.data.as_slice()).collect();
    let query = sqlx::query!(
        r#"with input as materialized (
            select i.*, sum(length(i.data)) over (partition by i.tenant_id order by i.place) as upto
            from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::smallint[], $6::integer[], $7::bigint[],
                $8::bytea[]) with ordinality as i(tenant_id, task_id, attempt, session_id, stream, seq, "offset", data, place)
        ), quota as materialized (
            select o.id, (p.limits->>'stored_output_bytes')::bigint
                - coalesce((select sum(u.bytes) from output_use u where u.tenant_id = o.id), 0) as room
            from tenant o join plan p on p.name = o.plan where o.id = any ($1)
        ), wanted as materialized (
            select i.tenant_id, i.task_id, i.attempt, i.stream, i.seq, i."offset", i.data, i.upto <= coalesce(q.room, i.upto) as fits
            from input i left join quota q on q.id = i.tenant_id
            cross join lateral (select l.placed_at from task l where l.tenant_id = i.tenant_id and l.id = i.task_id
                and l.attempt = i.attempt and l.session_id = i.session_id limit 1) t
            -- A look-up per chunk, in the days since the lease began.
            where (exists (select from task_output o where o.tenant_id = i.tenant_id and o.task_id = i.task_id
                and o.attempt = i.attempt and o.stream = i.stream and o.seq = i.seq and o.stored_at >= t.placed_at)) is not true
        ), stored as (
            insert into task_output (tenant_id, task_id, attempt, stream, seq, "offset", data)
            select tenant_id, task_id, attempt, stream, seq, "offset", data from wanted where fits
            on conflict do nothing
            returning tenant_id, length(data) as bytes
        ), used as (
            -- In order, so that two at once wait for each other in one direction only.
            insert into output_use as u (tenant_id, day, bytes)
            select tenant_id, (now() at time zone 'UTC')::date, sum(bytes) from stored group by tenant_id order by tenant_id
            on conflict (tenant_id, day) do update set bytes = u.bytes + excluded.bytes
        ), refused as (
            insert into output_refused (tenant_id, task_id, attempt)
            select distinct tenant_id, task_id, attempt from wanted where not fits
            on conflict do nothing
        )
        select count(*) as "stored!" from stored"#,
        &tenants,
        &tasks,
        &attempts,
        &sessions,
        &streams,
        &seqs,
        &offsets,
        &data as &[&[u8]]
    );
    let rows = named("output.insert", query.fetch_all(db.pool())).await?;
    Ok(rows.first().map_or(0, |row| row.stored.unsigned_abs()))
}
