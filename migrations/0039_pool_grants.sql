-- A pool is for those to whom the operators grant it: everyone, the tenants on a plan, or single tenants. A new one is for nobody.

alter table pool
    add column everyone boolean not null default false,
    -- Counts the changes of what it allows and to whom it is granted; 0 only while it is being made.
    add column version bigint not null default 1 check (version >= 0);
update pool set everyone = true where name = 'default';

create table pool_granted_plan (
    pool text not null references pool (name) on delete cascade,
    -- A plan that is deleted is granted nothing any more, nor is another that is made under its name.
    plan text collate "C" not null references plan (name) on delete cascade,
    primary key (pool, plan)
);
create index pool_granted_plan_by_plan on pool_granted_plan (plan);
create table pool_granted_tenant (
    pool text not null references pool (name) on delete cascade,
    tenant_id uuid not null references tenant (id),
    primary key (pool, tenant_id)
);
create index pool_granted_tenant_by_tenant on pool_granted_tenant (tenant_id);

do $$
declare
    t text;
begin
    foreach t in array array['pool_granted_plan', 'pool_granted_tenant'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy judge on %I for select to berth_submit, berth_scheduler using (true)', t);
        execute format('create policy administer on %I to berth_admin using (true) with check (true)', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
        execute format('grant select on %I to berth_submit, berth_scheduler', t);
        execute format('grant select, insert, delete on %I to berth_admin', t);
    end loop;
    execute format('create or replace function berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
        berth_tenant_tables() || array['pool_granted_tenant']);
end
$$;
grant update (everyone, version) on pool to berth_admin;
grant delete on pool to berth_admin;

-- Whether tasks that have not ended, or executors that live, are in a pool: it stays as long. As the owner, because operators see no
-- tenant's tasks.
create function berth_pool_in_use(named text) returns boolean
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
    as $$
        select exists (select from task t where t.pool = named)
            or exists (select from executor_session e where e.pool = named and e.ended_at is null and e.expires_at > now())
    $$;
revoke execute on function berth_pool_in_use(text) from public;
grant execute on function berth_pool_in_use(text) to berth_admin;

-- A due time into a pool that is none, or none for its tenant, makes no task. The earlier outcomes are among these: nothing that is
-- there has to be read for it.
alter table schedule_fire drop constraint schedule_fire_outcome_check;
alter table schedule_fire add constraint schedule_fire_outcome_check
    check (outcome in ('fired', 'late', 'skipped_overlap', 'collapsed_misfire', 'skipped_misfire', 'paused', 'suspended', 'shed_quota',
                       'pool_unavailable')) not valid;

-- Until now a tenant could use any pool. Each keeps those in which it has tasks, a history of them, or schedules. A schedule that cannot
-- be read keeps nothing.
do $$
declare
    of_schedule record;
    named text;
begin
    insert into pool_granted_tenant (pool, tenant_id)
        select u.pool, u.tenant_id
        from (select t.pool, t.tenant_id from task t where t.pool <> 'default'
            union select h.pool, h.tenant_id from task_history h where h.pool <> 'default') u
        join pool p on p.name = u.pool
        join tenant n on n.id = u.tenant_id and n.state <> 'deleted';
    if (select count(*) from pool) > 1 then
        for of_schedule in
            select s.tenant_id, s.template from schedule s
                join tenant n on n.id = s.tenant_id and n.state <> 'deleted'
                where s.deleted_at is null and s.template not like '%"pool":"default"%'
        loop
            begin
                named := of_schedule.template::jsonb ->> 'pool';
            exception when others then
                continue;
            end;
            insert into pool_granted_tenant (pool, tenant_id)
                select p.name, of_schedule.tenant_id from pool p where p.name = named and p.name <> 'default'
                on conflict do nothing;
        end loop;
    end if;
end
$$;
