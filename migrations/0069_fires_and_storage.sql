-- no-transaction
--
-- Prices of fires of schedules and of stored output.
--
-- A fire is borne by the first attempt of the task that it made; of a run, by that of the task that the run names. So attempts stay the
-- usage records of all that runs. What is stored is measured once for each tenant and day, and counted by the transaction that wrote it, as
-- attempts are (0065).
--
-- Each table is locked for a moment only, alone, and not waited for for long. Whatever ends this in the middle, the next run does all of it
-- again.

do $$
declare
    additions constant text[] := array[
        -- Of a run that a fire started: the task that bears its price.
        array['workflow_run', 'add column if not exists fire_task uuid'],
        -- Of a task with a reservation: what of `task_cost` is the fire's.
        array['attempt', 'add column if not exists fire_cost bigint'],
        array['usage_rollup', 'add column if not exists fires bigint not null default 0,
            add column if not exists stored_byte_days bigint not null default 0,
            add column if not exists fires_cost bigint not null default 0,
            add column if not exists stored_cost bigint not null default 0']
    ];
    part text[];
begin
    perform set_config('client_min_messages', 'warning', true);
    -- Output that was kept of a tenant when a day (UTC) had ended.
    create table if not exists public.stored_day (
        tenant_id uuid not null,
        day date not null,
        bytes bigint not null check (bytes > 0),
        txid bigint not null default (pg_current_xact_id()::text::bigint),
        primary key (day, tenant_id)
    );
    create index if not exists stored_day_by_txid on public.stored_day (txid);
    alter table public.stored_day enable row level security;
    alter table public.stored_day force row level security;
    drop policy if exists maintain on public.stored_day;
    execute format('create policy maintain on public.stored_day to %I using (true) with check (true)', current_user);
    drop policy if exists measure on public.stored_day;
    create policy measure on public.stored_day to berth_scheduler using (true) with check (true);
    drop policy if exists export on public.stored_day;
    create policy export on public.stored_day for select to berth_admin using (true);
    grant select, insert, delete on public.stored_day to berth_scheduler;
    grant select on public.stored_day to berth_admin;

    -- What of a task's own cost is the fire's, with its first attempt; as `berth_reserved_task_cost` (0068) has the sum.
    create or replace function public.berth_reserved_fire_cost(reservation jsonb, placed_at timestamptz, attempt integer) returns bigint
        language plpgsql immutable parallel safe
    as $f$
    declare
        prices constant jsonb := reservation -> 'prices';
    begin
        if attempt = 1 then
            for place in reverse jsonb_array_length(prices) - 1 .. 0 loop
                if (prices -> place ->> 'from')::bigint <= extract(epoch from placed_at) * 1000000 then
                    return coalesce((prices -> place ->> 'fire')::bigint, 0);
                end if;
            end loop;
        end if;
        return 0;
    end
    $f$;
    commit;

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
    -- The export says whether a fire led to an attempt.
    grant select (fire_cost) on public.attempt to berth_admin;
    grant select (schedule_id, run_id, rerun_of) on public.task_spec to berth_admin;
    grant select (tenant_id, id, fire_task) on public.workflow_run to berth_admin;
    drop policy if exists export on public.workflow_run;
    create policy export on public.workflow_run for select to berth_admin using (true);
    commit;
end
$$;
