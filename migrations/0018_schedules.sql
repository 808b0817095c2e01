-- Schedules: what decides when tasks are made, who fires them, and the ledger of every due time.

-- One row a schedule. It knows its next due time; whoever fires that writes the one after it in the same transaction.
create table schedule (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    name text collate "C" not null check (length(name) between 1 and 200),
    -- Counts changes by its owner.
    version bigint not null default 1 check (version >= 1),
    -- What decides when, and what a fire makes: JSON, as `domain::schedule` writes it.
    timing text not null,
    template text not null,
    overlap text not null check (overlap in ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow')),
    misfire text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- By what it was made: its tasks come by the same.
    created_by text not null,
    paused_at timestamptz,
    paused_by text,
    paused_because text check (length(paused_because) <= 500),
    -- Which part of the schedules it is in: see `schedule_shard`.
    shard smallint not null check (shard >= 0),
    -- The next due time, and when it is to be fired: with its share of the jitter. Null: it is over, or waits for a task to end.
    due_at timestamptz,
    fire_at timestamptz,
    -- Due times that made a task.
    fires bigint not null default 0 check (fires >= 0),
    -- Its latest tasks: those that still lived when it last fired, and those made since.
    recent uuid[] not null default '{}' check (cardinality(recent) <= 100),
    -- The task after whose end the next due time is counted.
    awaits uuid,
    -- The release of the time zone data by which `due_at` was found.
    tzdb text not null,
    ended_at timestamptz,
    -- The due time of which an event told that it was missed.
    told_missed timestamptz,
    constraint due_is_fired_some_time check ((due_at is null) = (fire_at is null)),
    constraint a_pause_has_a_time check (paused_at is not null or (paused_by is null and paused_because is null)),
    constraint the_ended_are_not_due check (ended_at is null or (due_at is null and awaits is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 1);

create unique index schedule_by_name on schedule (tenant_id, name);
-- What is to be fired next.
create index schedule_by_fire on schedule (shard, fire_at) where fire_at is not null;
-- The few that wait for a task to end.
create index schedule_by_wait on schedule (shard, id) where awaits is not null;

-- What became of each due time: one row, whatever became of it.
create table schedule_fire (
    tenant_id uuid not null,
    schedule_id uuid not null,
    due_at timestamptz not null,
    outcome text not null check (outcome in ('fired', 'late', 'skipped_overlap', 'collapsed_misfire', 'skipped_misfire', 'paused',
                                             'suspended', 'shed_quota')),
    kind text not null check (kind in ('scheduled', 'trigger', 'backfill')),
    fired_at timestamptz not null,
    task_id uuid,
    version bigint not null,
    detail text,
    primary key (tenant_id, schedule_id, due_at),
    constraint fired_means_a_task check ((outcome in ('fired', 'late')) = (task_id is not null))
) partition by range (due_at);

-- Due times that somebody wants fired after all; at most one range a schedule. The row goes when it is done.
create table schedule_backfill (
    schedule_id uuid primary key,
    tenant_id uuid not null references tenant (id),
    -- Due times after this one, and before that one.
    reached timestamptz not null,
    until timestamptz not null,
    per_second double precision not null check (per_second > 0),
    -- When the next of them may be fired.
    next_at timestamptz not null default now(),
    key_id text not null,
    created_at timestamptz not null default now()
);
create index schedule_backfill_by_next on schedule_backfill (next_at);

-- One row a scheduler that lives. What it owns, it owns for as long as this row is kept up.
create table scheduler_node (
    id uuid primary key,
    expires_at timestamptz not null,
    started_at timestamptz not null default now()
) with (fillfactor = 50);

-- Who fires the schedules of each part, under which number. Fires name both, and hold the row while they write.
create table schedule_shard (
    shard smallint primary key check (shard >= 0),
    -- New schedules are dealt into the open ones; all are fired.
    open boolean not null default true,
    owner uuid,
    epoch bigint not null default 0,
    -- The release of the time zone data by which all due times of its schedules are known to be found.
    tzdb text not null default ''
) with (fillfactor = 50);
insert into schedule_shard (shard) select generate_series(0, 63);

do $$
declare
    t text;
begin
    foreach t in array array['schedule', 'schedule_fire', 'schedule_backfill'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy own on %I to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
            with check (coalesce(tenant_id = berth_current_tenant(), false))', t);
        execute format('create policy fire on %I to berth_scheduler using (true) with check (true)', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
end
$$;
-- Who asks for a task now makes it where all tasks are made.
create policy trigger_now on schedule to berth_submit using (true) with check (true);
create policy trigger_now on schedule_fire for insert to berth_submit with check (true);

grant select, insert, update, delete on schedule to berth_api;
grant select on schedule_fire, schedule_shard to berth_api;
grant select, insert, delete on schedule_backfill to berth_api;
grant select on schedule to berth_submit;
grant update (recent) on schedule to berth_submit;
grant insert on schedule_fire to berth_submit;
grant select, update on schedule to berth_scheduler;
grant select, insert, update on schedule_fire to berth_scheduler;
grant select, update, delete on schedule_backfill to berth_scheduler;
grant select, insert, update, delete on scheduler_node to berth_scheduler;
grant select, insert, update on schedule_shard to berth_scheduler;

-- What fires makes tasks.
drop policy schedule on task_spec;
create policy schedule on task_spec to berth_scheduler using (true) with check (true);
grant insert on task, task_spec, idempotency to berth_scheduler;

-- The ledger goes by days like all history. Due times of days that no partition was made of, such as those of an old range that
-- is fired after all, are in the default one, by right: they are no strays, and go row by row.
create table schedule_fire_default partition of schedule_fire default;
alter table schedule_fire_default enable row level security;
alter table schedule_fire_default force row level security;

do $$
declare
    made text := pg_get_functiondef('berth_partition_make'::regproc);
    dropped text := pg_get_functiondef('berth_partition_drop'::regproc);
    purged text := pg_get_functiondef('berth_tenant_purge'::regproc);
    changed text;
begin
    execute format('create policy maintain on schedule_fire_default to %I using (true) with check (true)', current_user);

    changed := replace(made, $s$when 'task_output' then 'stored_at' end$s$,
        $s$when 'task_output' then 'stored_at' when 'schedule_fire' then 'due_at' end$s$);
    if changed = made then raise exception 'berth_partition_make is not as it was'; end if;
    execute changed;

    changed := replace(dropped, $s$('task_spec', 'task_history', 'attempt', 'task_output')$s$,
        $s$('task_spec', 'task_history', 'attempt', 'task_output', 'schedule_fire')$s$);
    if changed = dropped then raise exception 'berth_partition_drop is not as it was'; end if;
    dropped := changed;
    changed := replace(dropped, $s$    end loop;
    return false;$s$, $s$    end loop;
    if parent = 'schedule_fire' then
        delete from public.schedule_fire_default f using (
            select d.tenant_id, d.schedule_id, d.due_at from public.schedule_fire_default d
                where d.due_at < keep_from and d.fired_at < keep_from limit 5000) d
            where f.tenant_id = any (array[d.tenant_id]) and f.schedule_id = d.schedule_id and f.due_at = d.due_at;
        return found;
    end if;
    return false;$s$);
    if changed = dropped then raise exception 'berth_partition_drop is not as it was'; end if;
    execute changed;

    -- The schedules before their fires: nothing is added any more then.
    changed := replace(purged, $s$    when 'idempotency' then$s$, $s$    when 'schedule' then
        delete from schedule where ctid = any (array(select d.ctid from schedule d where d.tenant_id = whose limit most));
    when 'schedule_fire' then
        delete from schedule_fire f using (
            select d.tenant_id, d.schedule_id, d.due_at from schedule_fire d where d.tenant_id = whose limit most) d
            where f.tenant_id = any (array[d.tenant_id]) and f.schedule_id = d.schedule_id and f.due_at = d.due_at;
    when 'idempotency' then$s$);
    if changed = purged then raise exception 'berth_tenant_purge is not as it was'; end if;
    execute changed;
end
$$;

create or replace function berth_tenant_tables() returns text[] language sql immutable as $$
    select array['refresh_token', 'sign_in', 'api_key', 'app_user', 'rate_checkpoint', 'tenant_quota_level', 'tenant_event',
        'output_use', 'output_refused', 'concurrency_limit', 'tenant_turn', 'schedule_backfill']
$$;

do $$
declare
    today date := (now() at time zone 'UTC')::date;
begin
    while berth_partition_make('schedule_fire', today - 1, today + 7) loop
    end loop;
end
$$;
