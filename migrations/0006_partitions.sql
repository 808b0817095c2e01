-- Partitions by day: made ahead, dropped whole.
--
-- The services own no table, so they call these functions, which run as the owner. A default partition catches rows of
-- a clock that is days off; it is empty in normal times and watched by a metric. Making and dropping a partition locks
-- the whole table for a moment: both give up after half a second of waiting, because everything else queues behind them.

-- The first id of a day, as UUIDv7 would make it.
create function berth_first_id_of(day date) returns uuid
    language sql immutable parallel safe
    return (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create table task_spec_default partition of task_spec default;
create table task_history_default partition of task_history default;
create table attempt_default partition of attempt default;
create table task_output_default partition of task_output default;
do $$
declare
    t text;
begin
    foreach t in array array['task_spec_default', 'task_history_default', 'attempt_default', 'task_output_default'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
end
$$;

create function berth_partitions_ensure(first_day date, last_day date) returns integer
    language plpgsql security definer set search_path = pg_catalog, public set lock_timeout = '10s'
as $$
declare
    day date;
    parent text;
    child text;
    key text;
    low text;
    high text;
    made integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('berth_partitions'));
    perform set_config('lock_timeout', '500ms', true);
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
        foreach parent in array array['task_spec', 'task_history', 'attempt', 'task_output'] loop
            child := parent || '_' || to_char(day, 'YYYYMMDD');
            continue when to_regclass('public.' || child) is not null;
            key := case parent when 'task_spec' then 'id' when 'task_history' then 'finished_at'
                when 'attempt' then 'ended_at' else 'stored_at' end;
            if parent = 'task_spec' then
                low := public.berth_first_id_of(day);
                high := public.berth_first_id_of(day + 1);
            else
                low := day::timestamp at time zone 'UTC';
                high := (day + 1)::timestamp at time zone 'UTC';
            end if;
            execute format('create table public.%I (like public.%I including all)', child, parent);
            -- What a far clock has put into the default partition meanwhile comes along.
            execute format('with stray as (delete from public.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
                insert into public.%5$I select * from stray', parent || '_default', key, low, high, child);
            execute format('alter table public.%I enable row level security', child);
            execute format('alter table public.%I force row level security', child);
            execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)', parent, child, low, high);
            made := made + 1;
        end loop;
    end loop;
    return made;
end
$$;

-- Drops what is older than `keep_from`. A day of specs stays while a live task or kept history still needs one of them.
create function berth_partitions_drop(keep_from date) returns integer
    language plpgsql security definer set search_path = pg_catalog, public set lock_timeout = '10s' set enable_seqscan = off
as $$
declare
    child record;
    day date;
    dropped integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('berth_partitions'));
    perform set_config('lock_timeout', '500ms', true);
    for child in
        select p.relname as parent, c.relname as name
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        join pg_class p on p.oid = i.inhparent
        join pg_namespace n on n.oid = p.relnamespace
        where n.nspname = 'public' and p.relname in ('task_history', 'attempt', 'task_output', 'task_spec')
            and c.relname ~ '_[0-9]{8}$'
        order by (p.relname = 'task_spec'), c.relname
    loop
        day := to_date(right(child.name, 8), 'YYYYMMDD');
        continue when day >= keep_from;
        continue when child.parent = 'task_spec' and (
            exists (select from public.task t
                where t.id >= public.berth_first_id_of(day) and t.id < public.berth_first_id_of(day + 1))
            or exists (select from public.task_history h
                where h.id >= public.berth_first_id_of(day) and h.id < public.berth_first_id_of(day + 1)));
        begin
            execute format('drop table public.%I', child.name);
            dropped := dropped + 1;
        exception when lock_not_available then
            -- In use: next time.
            null;
        end;
    end loop;
    return dropped;
end
$$;

-- How many rows are in default partitions.
create function berth_partitions_strays() returns bigint
    language sql security definer set search_path = pg_catalog, public
    return (select count(*) from public.task_spec_default) + (select count(*) from public.task_history_default)
        + (select count(*) from public.attempt_default) + (select count(*) from public.task_output_default);

revoke execute on function berth_partitions_ensure(date, date), berth_partitions_drop(date), berth_partitions_strays() from public;
grant execute on function berth_partitions_ensure(date, date), berth_partitions_drop(date), berth_partitions_strays()
    to berth_scheduler;

select berth_partitions_ensure((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 7);
