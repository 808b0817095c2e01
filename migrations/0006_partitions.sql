-- Partitions by day: made ahead, dropped whole.
--
-- The services own no table, so they call these functions, which run as the owner. A default partition catches rows of
-- a clock that is days off; it is empty in normal times and watched by a metric. Making and dropping a partition locks
-- the whole table for a moment, so a call makes or drops one, and gives up after half a second of waiting, because
-- everything else queues behind it.

-- The first id of a day, as UUIDv7 would make it.
create function berth_first_id_of(day date) returns uuid
    language sql immutable parallel safe
    return (lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- The day (UTC) on which an id was made.
create function berth_day_of(id uuid) returns date
    language sql immutable parallel safe
    return (timestamp 'epoch' + ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint * interval '1 millisecond')::date;

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

-- Makes the first missing day of `parent` within the range; false where there is none.
create function berth_partition_make(parent text, first_day date, last_day date) returns boolean
    language plpgsql security definer set search_path = pg_catalog, public set lock_timeout = '10s'
as $$
declare
    key text := case parent when 'task_spec' then 'id' when 'task_history' then 'finished_at'
        when 'attempt' then 'ended_at' when 'task_output' then 'stored_at' end;
    day date;
    child text;
    low text;
    high text;
begin
    if key is null then
        raise exception 'no partitions are made of %', parent;
    end if;
    perform pg_advisory_xact_lock(hashtext('berth_partitions'));
    perform set_config('lock_timeout', '500ms', true);
    for day in select generate_series(first_day, last_day, interval '1 day')::date loop
        child := parent || '_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('public.' || child) is not null;
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
        return true;
    end loop;
    return false;
end
$$;

-- Drops the oldest day of `parent` before `keep_from`; false where there is none. A day of specs stays while a live task
-- or kept history still needs one of them.
create function berth_partition_drop(parent text, keep_from date) returns boolean
    language plpgsql security definer set search_path = pg_catalog, public set lock_timeout = '10s' set enable_seqscan = off
as $$
declare
    child text;
    day date;
    live date[];
begin
    if parent not in ('task_spec', 'task_history', 'attempt', 'task_output') then
        raise exception 'no partitions are dropped of %', parent;
    end if;
    perform pg_advisory_xact_lock(hashtext('berth_partitions'));
    perform set_config('lock_timeout', '500ms', true);
    if parent = 'task_spec' then
        live := array(select distinct public.berth_day_of(t.id) from public.task t where t.id < public.berth_first_id_of(keep_from));
    end if;
    for child in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = ('public.' || parent)::regclass and c.relname ~ '_[0-9]{8}$'
        order by c.relname
    loop
        day := to_date(right(child, 8), 'YYYYMMDD');
        exit when day >= keep_from;
        continue when parent = 'task_spec' and (
            day = any (live)
            or exists (select from public.task_history h
                where h.id >= public.berth_first_id_of(day) and h.id < public.berth_first_id_of(day + 1)));
        execute format('drop table public.%I', child);
        return true;
    end loop;
    return false;
end
$$;

-- How many rows are in default partitions.
create function berth_partitions_strays() returns bigint
    language sql security definer set search_path = pg_catalog, public
    return (select count(*) from public.task_spec_default) + (select count(*) from public.task_history_default)
        + (select count(*) from public.attempt_default) + (select count(*) from public.task_output_default);

revoke execute on function berth_partition_make(text, date, date), berth_partition_drop(text, date), berth_partitions_strays()
    from public;
grant execute on function berth_partition_make(text, date, date), berth_partition_drop(text, date), berth_partitions_strays()
    to berth_scheduler;

do $$
declare
    parent text;
    today date := (now() at time zone 'UTC')::date;
begin
    foreach parent in array array['task_spec', 'task_history', 'attempt', 'task_output'] loop
        while berth_partition_make(parent, today - 1, today + 7) loop
        end loop;
    end loop;
end
$$;
