-- What tasks return: a JSON value of a command or an HTTP call that succeeded, written by the statement that ends the task.
--
-- As text and not as jsonb, which refuses `\u0000` and large numbers and forgets how a value was written. Partitioned by the same time as
-- `task_history` and dropped with it; a task without a result has no row here.

create table task_result (
    tenant_id uuid not null,
    task_id uuid not null,
    -- The attempt that completed the task.
    attempt integer not null check (attempt >= 1),
    value text not null,
    bytes integer not null check (bytes = octet_length(value) and bytes between 1 and 65536),
    -- As in `task_history`.
    finished_at timestamptz not null,
    primary key (tenant_id, task_id, finished_at)
) partition by range (finished_at);
create table task_result_default partition of task_result default;

do $$
declare
    t text;
    made text := pg_get_functiondef('berth_partition_make'::regproc);
    dropped text := pg_get_functiondef('berth_partition_drop'::regproc);
    purged text := pg_get_functiondef('berth_tenant_purge'::regproc);
    changed text;
    today date := (now() at time zone 'UTC')::date;
begin
    foreach t in array array['task_result', 'task_result_default'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;

    changed := replace(made, $s$when 'task_history' then 'finished_at'$s$,
        $s$when 'task_history' then 'finished_at' when 'task_result' then 'finished_at'$s$);
    if changed = made then raise exception 'berth_partition_make is not as it was'; end if;
    execute changed;

    changed := replace(dropped, $s$'task_spec', 'task_history', 'attempt'$s$, $s$'task_spec', 'task_history', 'task_result', 'attempt'$s$);
    if changed = dropped then raise exception 'berth_partition_drop is not as it was'; end if;
    execute changed;

    changed := replace(purged, $s$    when 'attempt' then$s$, $s$    when 'task_result' then
        delete from task_result r using (
            select d.tenant_id, d.task_id, d.finished_at from task_result d where d.tenant_id = whose limit most) d
            where r.tenant_id = any (array[d.tenant_id]) and r.task_id = d.task_id and r.finished_at = d.finished_at;
    when 'attempt' then$s$);
    if changed = purged then raise exception 'berth_tenant_purge is not as it was'; end if;
    execute changed;

    while berth_partition_make('task_result', today - 1, today + 7) loop
    end loop;
end
$$;

create or replace function berth_partitions_strays() returns bigint
    language sql security definer set search_path = pg_catalog, public, pg_temp
    return (select count(*) from public.task_spec_default) + (select count(*) from public.task_history_default)
        + (select count(*) from public.attempt_default) + (select count(*) from public.task_output_default)
        + (select count(*) from public.task_event_default) + (select count(*) from public.task_result_default);

create policy own on task_result for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false));
create policy settle on task_result for insert to berth_rm with check (true);

grant select on task_result to berth_api;
grant insert on task_result to berth_rm;
