-- The event log: what changed, for the consumers of a tenant's tasks, schedules and quotas.
--
-- The statement that changes something writes its event, in the same transaction. Events of tasks are written for tenants that have a
-- row in `event_consumer`, and for tasks that a schedule counts (`task.counted_by`): all others cost one index probe per row. Events
-- without a task, which are rare and which every tenant can read, are always written.
--
-- A reader goes on from a cursor (`txid`, `seq`). Transactions commit in another order than they begin in, so what a reader may see ends
-- before the oldest transaction that is still open: `txid < pg_snapshot_xmin(pg_current_snapshot())`. All that is older has ended, and
-- nothing can be added behind such a cursor.

-- Without a cache: of two events of one task, the later one has the higher number.
create sequence task_event_seq;

create table task_event (
    tenant_id uuid not null,
    -- When the event was written.
    at timestamptz not null default clock_timestamp(),
    -- Which transaction wrote it, and a running number. Of one task, the numbers are in the order of its changes; the transactions may
    -- not be.
    txid bigint not null default (pg_current_xact_id()::text::bigint),
    seq bigint not null default nextval('task_event_seq'),
    -- `task_changed`, or what a tenant is warned of.
    kind text not null,
    task_id uuid,
    -- The state that the task is in from now on.
    state task_state,
    -- Its latest attempt; 0 before the first.
    attempt integer,
    exit_code integer,
    reason text,
    -- The schedule that counts how it ends.
    schedule_id uuid,
    -- Particulars of events without a task: a JSON object.
    detail jsonb,
    primary key (tenant_id, txid, seq, at),
    constraint task_or_detail check (case when kind = 'task_changed'
        then task_id is not null and state is not null and attempt is not null and detail is null
        else task_id is null and jsonb_typeof(detail) = 'object' end)
) partition by range (at);
-- For the one who counts how tasks of schedules end.
create index task_event_counted on task_event (txid, seq) where schedule_id is not null;
-- What a tenant is warned of, newest first.
create index task_event_warnings on task_event (tenant_id, at) where task_id is null;
create table task_event_default partition of task_event default;

-- Consumers of a tenant's events, each for a term. Statements that write events read only whether there is one.
create table event_consumer (
    tenant_id uuid not null references tenant (id),
    -- Such as `live_` and the id of an api process.
    consumer text not null,
    -- Renewed by the consumer; rows whose time is over are deleted.
    expires_at timestamptz not null,
    primary key (tenant_id, consumer)
);

-- How far a consumer of all tenants' events has come. Its row is locked by the one that reads on.
create table event_cursor (
    consumer text primary key,
    txid bigint not null default 0,
    seq bigint not null default 0,
    -- When the last event that it has read was written.
    at timestamptz not null default now()
);
insert into event_cursor (consumer) values ('schedules');

do $$
declare
    t text;
    made text := pg_get_functiondef('berth_partition_make'::regproc);
    dropped text := pg_get_functiondef('berth_partition_drop'::regproc);
    purged text := pg_get_functiondef('berth_tenant_purge'::regproc);
    changed text;
    first date;
    today date := (now() at time zone 'UTC')::date;
begin
    foreach t in array array['task_event', 'task_event_default', 'event_consumer', 'event_cursor'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;

    changed := replace(made, $s$when 'schedule_fire' then 'due_at' end$s$,
        $s$when 'schedule_fire' then 'due_at' when 'task_event' then 'at' end$s$);
    if changed = made then raise exception 'berth_partition_make is not as it was'; end if;
    execute changed;

    changed := replace(dropped, $s$'attempt', 'task_output', 'schedule_fire')$s$,
        $s$'attempt', 'task_output', 'schedule_fire', 'task_event')$s$);
    if changed = dropped then raise exception 'berth_partition_drop is not as it was'; end if;
    execute changed;

    changed := replace(purged, $s$    when 'idempotency' then$s$, $s$    when 'task_event' then
        delete from task_event e using (
            select d.tenant_id, d.txid, d.seq, d.at from task_event d where d.tenant_id = whose limit most) d
            where e.tenant_id = any (array[d.tenant_id]) and e.txid = d.txid and e.seq = d.seq and e.at = d.at;
    when 'idempotency' then$s$);
    if changed = purged then raise exception 'berth_tenant_purge is not as it was'; end if;
    execute changed;

    execute format('create or replace function berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
        array['event_consumer'] || berth_tenant_tables());

    select least(min((e.at at time zone 'UTC')::date), today - 1) into first from tenant_event e;
    while berth_partition_make('task_event', first, today + 7) loop
    end loop;
end
$$;

create or replace function berth_partitions_strays() returns bigint
    language sql security definer set search_path = pg_catalog, public, pg_temp
    return (select count(*) from public.task_spec_default) + (select count(*) from public.task_history_default)
        + (select count(*) from public.attempt_default) + (select count(*) from public.task_output_default)
        + (select count(*) from public.task_event_default);

create policy own on task_event for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false));
create policy tell on task_event for insert to berth_api with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy tell_of_leases on task_event for insert to berth_rm with check (true);
create policy tell_and_count on task_event to berth_scheduler using (true) with check (true);
create policy own on event_consumer to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy who_follows on event_consumer for select to berth_rm using (true);
create policy forget on event_consumer to berth_scheduler using (true) with check (true);
create policy count on event_cursor to berth_scheduler using (true) with check (true);

grant usage on sequence task_event_seq to berth_api, berth_rm, berth_scheduler;
grant select, insert on task_event to berth_api, berth_scheduler;
grant insert on task_event to berth_rm;
grant select, insert, update, delete on event_consumer to berth_api;
grant select on event_consumer to berth_rm;
grant select, delete on event_consumer to berth_scheduler;
grant select, update on event_cursor to berth_scheduler;

-- Warnings of before, and those that schedulers of the release before still write: a later release drops `tenant_event` and its trigger.
insert into task_event (tenant_id, at, kind, detail) select tenant_id, at, kind, detail from tenant_event order by at, id;
delete from tenant_event;
create function berth_tenant_event() returns trigger
    language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
begin
    insert into task_event (tenant_id, at, kind, detail) values (new.tenant_id, new.at, new.kind, new.detail);
    return null;
end
$$;
create trigger event before insert on tenant_event for each row execute function berth_tenant_event();

-- Tasks that are counted: those that live have it in their row from now on; of those that have ended, an event is written. A later release
-- drops `schedule_follow` and its trigger.
update task t set counted_by = f.schedule_id from schedule_follow f where t.tenant_id = f.tenant_id and t.id = f.task_id;
insert into task_event (tenant_id, kind, task_id, state, attempt, exit_code, reason, schedule_id)
    select h.tenant_id, 'task_changed', h.id, h.state, h.attempt, h.exit_code, h.reason, f.schedule_id
    from schedule_follow f join task_history h on h.tenant_id = f.tenant_id and h.id = f.task_id and h.finished_at >= f.since
    order by h.finished_at, h.id;
delete from schedule_follow;
create function berth_schedule_follow() returns trigger
    language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
begin
    update task set counted_by = new.schedule_id where tenant_id = new.tenant_id and id = new.task_id;
    return null;
end
$$;
create trigger follow before insert on schedule_follow for each row execute function berth_schedule_follow();
revoke execute on function berth_tenant_event(), berth_schedule_follow() from public;
