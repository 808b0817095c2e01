-- What the statements of the hot path take as rows: one array of these instead of an array for each column. Postgres unnests each array
-- into a store of its own, 16 KiB however few its rows are, and joins those row by row.
--
-- A type stays as it is for as long as a release is in use that knows it: what takes other columns gets another type.
create type new_task as (
    tenant_id uuid, id uuid, pool text, tier text, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer, ports integer,
    slots integer, delay_ms bigint, at timestamptz, tolerance_ms bigint, cap_ms bigint, max_attempts integer, expire_if_late boolean,
    at_most_once boolean, priority smallint, flexible boolean, concurrency_key text, strand bigint, name text, run text, retry text,
    labels text, traceparent text, key_id text, schedule_id uuid, unique_key text, route text, key text, body_hash bytea
);
create type placement as (
    tenant_id uuid, id uuid, dispatch_epoch integer, session_id uuid, assignment bigint, port_first integer
);
create type lease_end as (
    tenant_id uuid, id uuid, attempt integer, session_id uuid, outcome text, charged boolean, ran_ms bigint, exit_code integer,
    signal integer, reason text, stdout bigint, stderr bigint, delay_ms bigint
);
