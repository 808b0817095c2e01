-- Each due time is judged by how its schedule and its tenant were at the moment at which it was to be fired.

alter table schedule
    -- Since when its timing is what it is; null: since it was made.
    add column timing_since timestamptz,
    -- `schedule_span` has rows of it.
    add column has_spans boolean not null default false,
    -- When its owner deleted it. The row stays, under another name, until the due times that had come by then have their rows.
    add column deleted_at timestamptz;

-- How a schedule was before an edit, where due times that had come by then had no row yet: they are judged by it. One row a version;
-- the row goes with the last of these due times.
create table schedule_span (
    schedule_id uuid not null references schedule (id) on delete cascade,
    version bigint not null,
    tenant_id uuid not null,
    -- The instant of the edit: what was to be fired up to then is judged by this row, and its timing gave due times up to then.
    until timestamptz not null,
    -- As in `schedule`.
    timing_since timestamptz,
    timing text not null,
    template text not null,
    overlap text not null check (overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow')),
    misfire text not null,
    paused boolean not null,
    primary key (schedule_id, version)
);

-- How a tenant stood before it stood otherwise, and until when.
create table tenant_past_state (
    tenant_id uuid not null references tenant (id),
    until timestamptz not null,
    state text not null check (state in ('active', 'suspended')),
    primary key (tenant_id, until)
);
alter table tenant
    -- Since when it stands as it does; null: since it was made, or since before this was noted.
    add column state_since timestamptz;

do $$
declare
    t text;
begin
    foreach t in array array['schedule_span', 'tenant_past_state'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy fire on %I to berth_scheduler using (true) with check (true)', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
    execute format('create or replace function berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
        berth_tenant_tables() || array['schedule_span', 'tenant_past_state']);
end
$$;
create policy own on schedule_span to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy administer on tenant_past_state to berth_admin using (true) with check (true);

grant select, insert, update on schedule_span to berth_api;
grant select, insert, delete on schedule_span to berth_scheduler;
grant select on tenant_past_state to berth_scheduler;
grant select, insert, delete on tenant_past_state to berth_admin;
-- What is deleted goes with its last due time; a backfill of a deleted tenant's does too.
grant delete on schedule to berth_scheduler;
create policy only_what_its_owner_deleted on schedule as restrictive for delete to berth_scheduler using (deleted_at is not null);

-- The same as before, and no time of an edit beyond all clocks.
create or replace function berth_schedule_is_sound(s schedule) returns boolean
    language sql immutable parallel safe
    return coalesce(
        s.name <> '' and s.version between 1 and 1000000000000 and s.timing <> '' and s.template <> '' and s.misfire <> ''
        and s.overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow')
        and s.created_by is not null and s.tzdb is not null and s.fires between 0 and 1000000000000 and s.recent is not null
        and s.shard is not null and (s.due_at is null) = (s.fire_at is null) and s.has_spans is not null
        and s.created_at >= timestamptz '1970-01-01 00:00:00+00' and s.created_at < timestamptz '20000-01-01 00:00:00+00'
        and s.updated_at >= timestamptz '1970-01-01 00:00:00+00' and s.updated_at < timestamptz '20000-01-01 00:00:00+00'
        and (s.due_at is null or s.due_at >= timestamptz '1970-01-01 00:00:00+00' and s.due_at < timestamptz '20000-01-01 00:00:00+00')
        and (s.fire_at is null or s.fire_at >= timestamptz '1970-01-01 00:00:00+00' and s.fire_at < timestamptz '20000-01-01 00:00:00+00')
        and (s.timing_since is null
            or s.timing_since >= timestamptz '1970-01-01 00:00:00+00' and s.timing_since < timestamptz '20000-01-01 00:00:00+00')
        and (s.deleted_at is null
            or s.deleted_at >= timestamptz '1970-01-01 00:00:00+00' and s.deleted_at < timestamptz '20000-01-01 00:00:00+00'),
        false);
