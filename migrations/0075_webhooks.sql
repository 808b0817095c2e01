-- Webhooks, and their deliveries: which event was sent to which receiver, when, and what it answered.
--
-- A webhook has a cursor into the event log; whoever moves it stores the deliveries of the events that it passes in the same transaction.
-- A delivery is claimed by putting `due_at` behind the time that a try may take: if the one who claimed it dies, it is due again then.

-- As the others of the first migration. `berth migrate` has made it before this runs.
do $$
begin
    if not exists (select from pg_roles where rolname = 'berth_notifier') then
        create role berth_notifier nologin nosuperuser nocreatedb nocreaterole noinherit nobypassrls;
    end if;
exception when duplicate_object or unique_violation then
    null;
end
$$;

do $$
declare
    t text;
    made text := pg_get_functiondef('berth_partition_make'::regproc);
    dropped text := pg_get_functiondef('berth_partition_drop'::regproc);
    purged text := pg_get_functiondef('berth_tenant_purge'::regproc);
    changed text;
    today date := (now() at time zone 'UTC')::date;
begin
    create table webhook (
        id uuid primary key,
        tenant_id uuid not null,
        name text collate "C" not null check (name ~ '^[a-z0-9-]{1,63}$'),
        version bigint not null default 1 check (version >= 1),
        -- What the customer stored: JSON.
        spec text not null,
        -- Of `spec`.
        ordered boolean not null,
        paused boolean not null,
        -- `whsec_...`; the one before, which signs as well until then.
        secret text not null,
        old_secret text,
        old_secret_until timestamptz,
        -- No success for long: nothing is sent until somebody enables it.
        disabled_at timestamptz,
        disabled_reason text,
        -- Tries in a row without a success, and when the first of them was.
        failures bigint not null default 0,
        failing_since timestamptz,
        -- Up to where the event log has deliveries of it, and whether more events may be behind that.
        txid bigint not null,
        seq bigint not null,
        behind boolean not null default false,
        read_at timestamptz not null default now(),
        -- Not after the first delivery that is due; null: none waits.
        next_due timestamptz,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        unique (tenant_id, name),
        constraint disabled_for_a_reason check ((disabled_at is null) = (disabled_reason is null))
    );
    create index webhook_next on webhook (next_due) where disabled_at is null and not paused;

    create table webhook_delivery (
        tenant_id uuid not null,
        webhook_id uuid not null,
        id uuid not null,
        -- When the event was written.
        at timestamptz not null,
        -- Null: a test.
        event_id text,
        event_type text not null,
        subject text not null,
        -- Orders the events of one subject.
        seq bigint not null,
        -- What is sent, the same in each try.
        body text not null,
        state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
        -- From when on its age counts: `at`, or when it was sent again by hand.
        since timestamptz not null,
        due_at timestamptz not null,
        tries bigint not null default 0,
        -- The last tries: JSON, see `domain::webhook::DeliveryTry`.
        log jsonb not null default '[]',
        ended_at timestamptz,
        primary key (webhook_id, at, id),
        constraint ended_when_over check ((state = 'pending') = (ended_at is null))
    ) partition by range (at);
    create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where state = 'pending';
    create index webhook_delivery_subject on webhook_delivery (webhook_id, subject, seq) where state = 'pending';
    create index webhook_delivery_tenant on webhook_delivery (tenant_id, webhook_id);
    create table webhook_delivery_default partition of webhook_delivery default;

    foreach t in array array['webhook', 'webhook_delivery', 'webhook_delivery_default'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;

    changed := replace(made, $s$when 'task_event' then 'at'$s$, $s$when 'task_event' then 'at' when 'webhook_delivery' then 'at'$s$);
    if changed = made then raise exception 'berth_partition_make is not as it was'; end if;
    execute changed;

    changed := replace(dropped, $s$'task_event')$s$, $s$'task_event', 'webhook_delivery')$s$);
    if changed = dropped then raise exception 'berth_partition_drop is not as it was'; end if;
    execute changed;

    changed := replace(purged, $s$    when 'attempt' then$s$, $s$    when 'webhook_delivery' then
        delete from webhook_delivery r using (
            select d.webhook_id, d.at, d.id from webhook_delivery d where d.tenant_id = whose limit most) d
            where r.webhook_id = any (array[d.webhook_id]) and r.at = d.at and r.id = d.id;
    when 'attempt' then$s$);
    if changed = purged then raise exception 'berth_tenant_purge is not as it was'; end if;
    execute changed;

    execute format('create or replace function berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
        array['webhook', 'webhook_delivery'] || berth_tenant_tables());

    while berth_partition_make('webhook_delivery', today - 1, today + 7) loop
    end loop;
end
$$;

create or replace function berth_partitions_strays() returns bigint
    language sql security definer set search_path = pg_catalog, public, pg_temp
    return (select count(*) from public.task_spec_default) + (select count(*) from public.task_history_default)
        + (select count(*) from public.attempt_default) + (select count(*) from public.task_output_default)
        + (select count(*) from public.task_event_default) + (select count(*) from public.task_result_default)
        + (select count(*) from public.webhook_delivery_default);

create policy own on webhook to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy own on webhook_delivery to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy deliver on webhook to berth_notifier using (true) with check (true);
create policy deliver on webhook_delivery to berth_notifier using (true) with check (true);
create policy tell_of_webhooks on task_event to berth_notifier using (true) with check (true);
create policy tell_events on task_spec for select to berth_notifier using (true);
create policy tell_events on schedule for select to berth_notifier using (true);
create policy tell_events on workflow_run for select to berth_notifier using (true);

grant usage on schema public to berth_notifier;
grant usage on sequence task_event_seq to berth_notifier;
grant select, insert, update, delete on webhook to berth_api;
grant select, insert, update on webhook_delivery to berth_api;
grant select, update on webhook to berth_notifier;
grant select, insert, update on webhook_delivery to berth_notifier;
grant select, insert on task_event to berth_notifier;
grant execute on function berth_schedules_held() to berth_notifier;
grant select on task_spec, schedule, workflow_run to berth_notifier;
