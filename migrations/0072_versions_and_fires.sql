-- The versions of a workflow that others replaced, and which task bears what a fire costs. No table that is in use is locked.

-- Which task bears what a fire of a schedule costs: the task of the fire, or the task of its workflow run that the run names. Whatever
-- reads attempts for money asks it. A plain expression, so that the planner puts it in place of the call.
create function berth_bears_fire(task uuid, schedule uuid, rerun_of uuid, run uuid, fire_task uuid) returns boolean
    language sql immutable parallel safe
    return coalesce(schedule is not null and rerun_of is null and (run is null or fire_task = task), false);

-- The versions of a workflow that others replaced, as they were sent: for reading, and for what differs between two. The one that is stored
-- now is in `workflow`. Runs have their plans, and need none of these.

do $$
begin
    perform set_config('client_min_messages', 'warning', true);
    create table if not exists public.workflow_version (
        tenant_id uuid not null,
        name text not null,
        version bigint not null check (version >= 1),
        -- JSON.
        definition text not null,
        nodes bigint not null check (nodes >= 1),
        stored_at timestamptz not null,
        stored_by text not null,
        primary key (tenant_id, name, version)
    );
    alter table public.workflow_version enable row level security;
    alter table public.workflow_version force row level security;
    drop policy if exists maintain on public.workflow_version;
    execute format('create policy maintain on public.workflow_version to %I using (true) with check (true)', current_user);
    drop policy if exists own on public.workflow_version;
    create policy own on public.workflow_version to berth_api
        using (coalesce(tenant_id = public.berth_current_tenant(), false))
        with check (coalesce(tenant_id = public.berth_current_tenant(), false));
    if not 'workflow_version' = any (public.berth_tenant_tables()) then
        execute format(
            'create or replace function public.berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
            array['workflow_version'] || public.berth_tenant_tables());
    end if;
    grant select, insert, delete on public.workflow_version to berth_api;
end
$$;
