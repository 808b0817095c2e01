-- Which due time a task is for, and the name of the schedule that made it: written once with the spec, and handed to what it runs.
--
-- Null where no schedule made it: then its due time is the spec's `run_at`. Tasks of schedules that exist already have neither.
alter table task_spec
    add column due_at timestamptz,
    add column schedule_name text;

-- `new_task` with these two: releases that are in use meanwhile know the one without.
create type submitted_task as (
    tenant_id uuid, id uuid, pool text, tier text, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer, ports integer,
    slots integer, delay_ms bigint, at timestamptz, tolerance_ms bigint, cap_ms bigint, max_attempts integer, expire_if_late boolean,
    at_most_once boolean, priority smallint, flexible boolean, concurrency_key text, strand bigint, name text, run text, retry text,
    labels text, traceparent text, key_id text, schedule_id uuid, due_at timestamptz, schedule_name text, unique_key text, route text,
    key text, body_hash bytea
);
