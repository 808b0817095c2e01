-- Plans, and what becomes of suspended and deleted tenants.

create table plan (
    name text collate "C" primary key check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    -- The ranges are those of domain/src/plan.rs.
    submits_per_second integer not null check (submits_per_second between 1 and 1000000),
    submit_burst integer not null check (submit_burst between 1 and 10000000),
    -- 0: no hourly limit.
    submits_per_hour integer not null check (submits_per_hour between 0 and 2000000000),
    running_tasks integer not null check (running_tasks between 1 and 10000000),
    backlog integer not null check (backlog between 1 and 100000000),
    schedules integer not null check (schedules between 0 and 10000000),
    payload_bytes integer not null check (payload_bytes between 1024 and 16777216),
    stored_output_bytes bigint not null check (stored_output_bytes between 0 and 1125899906842624),
    retention_days smallint not null check (retention_days between 1 and 3650),
    weight double precision not null check (weight > 0 and weight <= 1000),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

alter table plan enable row level security;
alter table plan force row level security;
-- What a plan allows is no secret: it is what customers choose by.
create policy read on plan for select to berth_api, berth_submit, berth_scheduler, berth_rm using (true);
create policy administer on plan to berth_admin using (true) with check (true);
grant select on plan to berth_api, berth_submit, berth_scheduler, berth_rm;
grant select, insert, update, delete on plan to berth_admin;

-- The owner of the tables, who is no service, purges: see below.
do $$
begin
    execute format('create policy maintain on plan to %I using (true) with check (true)', current_user);
    execute format('create policy maintain on tenant to %I using (true) with check (true)', current_user);
    execute format('create policy maintain on api_key to %I using (true) with check (true)', current_user);
end
$$;

insert into plan (name, submits_per_second, submit_burst, submits_per_hour, running_tasks, backlog, schedules, payload_bytes,
    stored_output_bytes, retention_days, weight)
values
    ('default', 10000, 20000, 0, 100000, 5000000, 10000, 16777216, 1099511627776, 30, 1),
    ('free', 10, 20, 1000, 5, 1000, 10, 65536, 104857600, 7, 1);

alter table tenant
    add column plan text collate "C" not null default 'default' references plan (name),
    -- Null: the plan's.
    alter column weight drop not null,
    alter column weight drop default,
    -- Null once the tenant is purged: what stays is that there was one.
    alter column name drop not null,
    add column suspended_at timestamptz,
    add column deleted_at timestamptz,
    add column purged_at timestamptz,
    -- How far the purge has looked through old specs.
    add column purged_to uuid;
update tenant set weight = null where weight = 1;
update tenant set suspended_at = now() where state = 'suspended';
update tenant set deleted_at = now() where state = 'deleted';
alter table tenant
    add constraint deleted_has_a_time check ((state = 'deleted') = (deleted_at is not null)),
    add constraint only_the_purged_are_nameless check ((name is null) = (purged_at is not null)),
    add constraint only_the_deleted_are_purged check (purged_at is null or state = 'deleted');

create index tenant_by_plan on tenant (plan);
-- The few that need work of the scheduler.
create index tenant_deleted on tenant (deleted_at) where state = 'deleted' and purged_at is null;

-- On which side of 80 % of a quota a tenant is, and what it was told of it.
create table tenant_quota_level (
    tenant_id uuid not null references tenant (id),
    quota text not null,
    above boolean not null,
    primary key (tenant_id, quota)
);
create table tenant_event (
    id uuid not null default gen_random_uuid(),
    tenant_id uuid not null references tenant (id),
    at timestamptz not null default now(),
    kind text not null,
    detail jsonb not null,
    primary key (tenant_id, at, id)
);

-- Bytes of output stored, by tenant and day: written by the statement that stores it, deleted when its day is dropped.
create table output_use (
    tenant_id uuid not null,
    day date not null,
    bytes bigint not null check (bytes >= 0),
    primary key (tenant_id, day)
) with (fillfactor = 50);
-- Attempts of which output was not stored, because the plan's quota was used up.
create table output_refused (
    tenant_id uuid not null,
    task_id uuid not null,
    attempt integer not null,
    at timestamptz not null default now(),
    primary key (tenant_id, task_id, attempt)
);
create index output_refused_by_age on output_refused (at);
insert into output_use (tenant_id, day, bytes)
    select o.tenant_id, (o.stored_at at time zone 'UTC')::date, sum(length(o.data)) from task_output o group by 1, 2;

do $$
declare
    t text;
begin
    foreach t in array array['tenant_quota_level', 'tenant_event', 'output_use', 'output_refused'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy own on %I for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
end
$$;
create policy warn on tenant_quota_level to berth_submit using (true) with check (true);
create policy warn on tenant_event for insert to berth_submit with check (true);
grant select, insert, update on tenant_quota_level to berth_submit;
grant insert on tenant_event to berth_submit;
grant select on tenant_event to berth_api;

create policy plan_of on tenant for select to berth_rm using (true);
create policy store on output_use to berth_rm using (true) with check (true);
create policy store on output_refused for insert to berth_rm with check (true);
create policy forget on output_use to berth_scheduler using (true) with check (true);
create policy forget on output_refused to berth_scheduler using (true) with check (true);
grant select (id, plan) on tenant to berth_rm;
grant select, insert, update on output_use to berth_rm;
grant insert on output_refused to berth_rm;
grant select, delete on output_use, output_refused to berth_scheduler;
grant select on output_use, output_refused to berth_api;

-- What runs as the owner must not take a caller's temporary table for one of ours: unless it is named, the temporary schema is
-- looked at first.
do $$
declare
    f regprocedure;
begin
    for f in select p.oid::regprocedure from pg_proc p
        where p.prosecdef and p.pronamespace = 'public'::regnamespace and p.proname like 'berth\_%' loop
        execute format('alter function %s set search_path = pg_catalog, public, pg_temp', f);
    end loop;
end
$$;

-- Deletes up to `most` rows of one part of a deleted tenant's data; answers how many. The services may delete no history, so
-- this runs as the owner, and only for a tenant whose grace is over and of which no task lives any more.
create function berth_tenant_purge(part text, whose uuid, grace interval, most integer) returns bigint
    language plpgsql security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off
as $$
declare
    reached uuid;
    last uuid;
    done bigint;
begin
    select t.purged_to into reached from tenant t
        where t.id = whose and t.state = 'deleted' and t.purged_at is null and t.deleted_at <= now() - grace
        for update;
    if not found or exists (select from task t where t.tenant_id = whose) then
        return 0;
    end if;
    -- A key's first column is matched as `any (array[...])`, so that rows are looked up one by one: see store/src/task/transition.
    case part
    when 'task_output' then
        delete from task_output o using (
            select d.tenant_id, d.task_id, d.attempt, d.stream, d.seq, d.stored_at
            from task_output d where d.tenant_id = whose limit most) d
            where o.tenant_id = any (array[d.tenant_id]) and o.task_id = d.task_id and o.attempt = d.attempt and o.stream = d.stream
                and o.seq = d.seq and o.stored_at = d.stored_at;
    when 'attempt' then
        delete from attempt a using (
            select d.tenant_id, d.task_id, d.attempt, d.ended_at from attempt d where d.tenant_id = whose limit most) d
            where a.tenant_id = any (array[d.tenant_id]) and a.task_id = d.task_id and a.attempt = d.attempt and a.ended_at = d.ended_at;
    when 'task_history' then
        -- Together with its spec, which nothing else finds by its tenant.
        with picked as materialized (
            select d.tenant_id, d.id, d.finished_at from task_history d where d.tenant_id = whose limit most
        ), specs as (
            delete from task_spec s using picked p where s.id = p.id and s.tenant_id = whose
        )
        delete from task_history h using picked p where h.tenant_id = any (array[p.tenant_id]) and h.id = p.id and h.finished_at = p.finished_at;
    when 'task_spec' then
        -- Specs whose history was dropped before: only in days before the oldest history, a day more for clocks. Looked for
        -- page by page; the row of the tenant knows how far.
        select berth_first_id_of(to_date(right(min(c.relname), 8), 'YYYYMMDD') + 1) into last
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'public.task_history'::regclass and c.relname ~ '_[0-9]{8}$';
        select p.id into reached from (
            select s.id from task_spec s
                where s.id > coalesce(reached, '00000000-0000-0000-0000-000000000000') and s.id < last
                order by s.id limit most) p
            order by p.id desc limit 1;
        if reached is null then
            return 0;
        end if;
        delete from task_spec s using tenant t
            where t.id = whose and s.tenant_id = whose and s.id <= reached
                and s.id > coalesce(t.purged_to, '00000000-0000-0000-0000-000000000000');
        update tenant set purged_to = reached where id = whose;
        return 1;
    when 'idempotency' then
        delete from idempotency k using (
            select d.tenant_id, d.route, d.key from idempotency d where d.tenant_id = whose limit most) d
            where k.tenant_id = any (array[d.tenant_id]) and k.route = d.route and k.key = d.key;
    when 'others' then
        -- Also of tables that later migrations make: names are looked up when this runs.
        with keys as (
            delete from api_key where tenant_id = whose returning 1
        ), tokens as (
            delete from refresh_token where tenant_id = whose returning 1
        ), sign_ins as (
            delete from sign_in where tenant_id = whose returning 1
        ), users as (
            delete from app_user where tenant_id = whose returning 1
        ), hours as (
            delete from rate_checkpoint where tenant_id = whose returning 1
        ), levels as (
            delete from tenant_quota_level where tenant_id = whose returning 1
        ), events as (
            delete from tenant_event where tenant_id = whose returning 1
        ), use as (
            delete from output_use where tenant_id = whose returning 1
        ), refused as (
            delete from output_refused where tenant_id = whose returning 1
        )
        select (select count(*) from keys) + (select count(*) from levels) + (select count(*) from events)
            + (select count(*) from use) + (select count(*) from refused) + (select count(*) from tokens)
            + (select count(*) from sign_ins) + (select count(*) from users) + (select count(*) from hours) into done;
        return done;
    when 'tenant' then
        update tenant set name = null, plan = 'default', weight = null, purged_at = now(), purged_to = null where id = whose;
    else
        raise exception 'no part of a tenant is called %', part;
    end case;
    get diagnostics done = row_count;
    return done;
end
$$;
revoke execute on function berth_tenant_purge(text, uuid, interval, integer) from public;
grant execute on function berth_tenant_purge(text, uuid, interval, integer) to berth_scheduler;
