-- Where this installation's database is: one that was restored elsewhere is noticed, and fires no schedule until an operator has looked.

create table installation (
    only_one boolean primary key default true check (only_one),
    -- As `berth_place` gave it at the last migration.
    place text,
    -- Since when no schedule fires, and why.
    held_since timestamptz,
    held_because text,
    check ((held_since is null) = (held_because is null))
);
insert into installation default values;

-- The cluster, the database and this table: one of them is another one after a dump was restored, or after a database was copied. A copy
-- of the cluster's files has all three.
create function berth_place() returns text
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
    cluster text := '-';
begin
    begin
        select s.system_identifier::text into cluster from pg_control_system() s;
    exception when insufficient_privilege or undefined_function then
        null;
    end;
    return format('%s/%s/%s', cluster, (select d.oid from pg_database d where d.datname = current_database()),
        'public.installation'::regclass::oid);
end
$$;

-- Why no schedule fires; null: they fire.
create function berth_schedules_held() returns text
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    select coalesce(i.held_because, case when i.place <> berth_place() then 'restored, and not migrated since' end) from installation i
$$;

-- Lets schedules fire again; false where they do.
create function berth_schedules_resume() returns boolean
    language sql security definer set search_path = pg_catalog, public, pg_temp
as $$
    with resumed as (
        update installation set place = berth_place(), held_since = null, held_because = null
            where berth_schedules_held() is not null returning 1
    )
    select exists (select from resumed)
$$;

-- For whoever decides on it. Schedules that would fire at once, the longest overdue first, and how many there are in all; and how many
-- tasks live in each state.
create function berth_schedules_overdue(most integer)
    returns table (tenant text, schedule text, due_at timestamptz, misfire text, total bigint)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    select t.name, s.name, s.due_at, s.misfire, count(*) over ()
        from schedule s join tenant t on t.id = s.tenant_id
        where s.fire_at <= now() and s.paused_at is null and s.deleted_at is null and t.state = 'active'
        order by s.fire_at, s.id limit most
$$;
create function berth_tasks_alive() returns table (state text, at_most_once boolean, tasks bigint)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    select t.state::text, t.at_most_once, count(*) from task t group by 1, 2 order by 1, 2
$$;

revoke execute on function berth_place(), berth_schedules_held(), berth_schedules_resume(), berth_schedules_overdue(integer),
    berth_tasks_alive() from public;
grant execute on function berth_schedules_held() to berth_api, berth_scheduler, berth_admin;
grant execute on function berth_schedules_resume(), berth_schedules_overdue(integer), berth_tasks_alive() to berth_admin;
