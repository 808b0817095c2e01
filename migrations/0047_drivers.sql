-- no-transaction
--
-- Which driver a task needs, and which there are: a task whose driver no executor of its pool has is not handed out.
--
-- Null in each of these means unknown, as releases write it that know none of them: such a task may be tried on any executor, and such
-- an executor with any task.
--
-- Each table is locked for a moment only, alone, and not waited for for long, because everything else queues behind. Whatever ends this in
-- the middle, the next run does all of it again.

do $$
declare
    additions constant text[] := array[
        -- As `run` names it.
        array['task', 'add column if not exists driver text'],
        array['executor_session', 'add column if not exists drivers text[]'],
        -- All drivers of its executors; as `lacks`, by driver: what lacks room only for tasks of that driver.
        array['pool_load', 'add column if not exists drivers text[], add column if not exists lacks_by_driver jsonb']
    ];
    part text[];
begin
    foreach part slice 1 in array additions loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute format('alter table public.%I %s', part[1], part[2]);
                exit;
            exception when lock_not_available or deadlock_detected then
                if tried = 120 then
                    raise;
                end if;
                perform pg_sleep(0.5);
            end;
        end loop;
        commit;
    end loop;

    -- `submitted_task` with the driver. Releases that are in use meanwhile know the one without; a later migration drops it.
    begin
        create type public.submission as (
            tenant_id uuid, id uuid, pool text, tier text, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer,
            ports integer, slots integer, delay_ms bigint, at timestamptz, tolerance_ms bigint, cap_ms bigint, max_attempts integer,
            expire_if_late boolean, at_most_once boolean, priority smallint, flexible boolean, concurrency_key text, strand bigint,
            name text, run text, retry text, labels text, traceparent text, key_id text, schedule_id uuid, due_at timestamptz,
            schedule_name text, unique_key text, route text, key text, body_hash bytea, driver text
        );
    exception when duplicate_object then
        null;
    end;

    create or replace view public.task_turn as
        select t.tenant_id, t.id, t.pool, t.state, t.strand, t.start_deadline, t.run_at, t.priority, t.flexible, t.concurrency_key,
            t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports, t.driver
        from public.task t
        where t.tenant_id = public.berth_current_tenant() and t.state in ('ready', 'queued');
end
$$;
