-- no-transaction
--
-- The versions of a workflow that others replaced, as they were sent: for reading, and for what differs between two. The one that is stored
-- now is in `workflow`. Runs have their plans, and need none of these.
--
-- No table that is in use is locked. Whatever ends this in the middle, the next run does all of it again.

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
