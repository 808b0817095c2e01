-- Which driver a task needs, and which there are: a task whose driver no executor of its pool has is not handed out.
--
-- Null in each of these means unknown, as releases write it that know none of them: such a task may be tried on any executor, and such
-- an executor with any task.

-- As `run` names it.
alter table task add column driver text;

alter table executor_session add column drivers text[];

alter table pool_load
    -- All that its executors have.
    add column drivers text[],
    -- As `lacks`, by driver: what lacks room only for tasks of that driver.
    add column lacks_by_driver jsonb;

-- `submitted_task` with the driver: releases that are in use meanwhile know the one without.
create type submission as (
    tenant_id uuid, id uuid, pool text, tier text, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer, ports integer,
    slots integer, delay_ms bigint, at timestamptz, tolerance_ms bigint, cap_ms bigint, max_attempts integer, expire_if_late boolean,
    at_most_once boolean, priority smallint, flexible boolean, concurrency_key text, strand bigint, name text, run text, retry text,
    labels text, traceparent text, key_id text, schedule_id uuid, due_at timestamptz, schedule_name text, unique_key text, route text,
    key text, body_hash bytea, driver text
);

create or replace view task_turn as
    select t.tenant_id, t.id, t.pool, t.state, t.strand, t.start_deadline, t.run_at, t.priority, t.flexible, t.concurrency_key,
        t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports, t.driver
    from task t
    where t.tenant_id = berth_current_tenant() and t.state in ('ready', 'queued');
