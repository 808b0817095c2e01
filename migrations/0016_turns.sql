-- What decides whose turn it is: priorities, flexible tasks, concurrency keys, pauses, and what the batcher remembers.

alter table task
    add column priority smallint not null default 0 check (priority between -10 and 10),
    add column flexible boolean not null default false,
    add column concurrency_key text check (length(concurrency_key) between 1 and 200),
    -- Tells tasks of a tenant apart that do not start under the same conditions: see `domain::batch::Strand`. Inside a strand
    -- what is looked at first can stand for all of it, however many follow.
    add column strand bigint not null default 0,
    -- Hash of the name; tasks of a tenant and name are expected to take as long as each other.
    add column name_key bigint not null default 0;

-- Whose turn it is: per pool and tenant, in each strand by start deadline; and what waits in the broker.
drop index task_by_turn;
create index task_by_turn on task (pool, state, tenant_id, strand, start_deadline, id) where state in ('ready', 'queued');
-- What a key holds.
create index task_by_concurrency_key on task (tenant_id, concurrency_key)
    where concurrency_key is not null and state in ('queued', 'running', 'cancelling');

alter table task_spec
    add column priority smallint not null default 0,
    add column flexible boolean not null default false,
    add column concurrency_key text;

-- Tasks of its tenants are flexible unless they say otherwise.
alter table plan add column flexible boolean not null default false;

-- How many tasks of a key may run at once, where it is not one; 0: none for now.
create table concurrency_limit (
    tenant_id uuid not null references tenant (id),
    key text not null check (length(key) between 1 and 200),
    running integer not null check (running between 0 and 1000000),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, key)
);

-- Nothing of a paused pool is handed out; what runs goes on.
alter table pool
    add column paused_at timestamptz,
    add column paused_because text check (length(paused_because) <= 500),
    add constraint a_reason_is_of_a_pause check (paused_because is null or paused_at is not null);

-- All that its executors have: what shares are measured by.
alter table pool_load
    add column total_cpu_millis bigint not null default 0,
    add column total_memory_mib bigint not null default 0,
    add column total_disk_mib bigint not null default 0,
    add column total_iops bigint not null default 0,
    add column total_ports bigint not null default 0;

-- What attempts took, as resource managers tell it to the batcher: a row for a fraction of a second of ends. A lost row costs
-- fairness for a while and nothing else. Each end is 20 bytes: the task's id, and the milliseconds it used.
create unlogged table attempt_end (
    owner uuid not null,
    seq bigint not null,
    ends bytea not null check (length(ends) % 20 = 0),
    at timestamptz not null default clock_timestamp(),
    primary key (owner, seq)
);
create index attempt_end_by_age on attempt_end (at);

-- The tenants whose tasks wait in a pool, as of a second ago: written by the batcher for whoever takes its place, and for those
-- who ask when it is their turn.
create table tenant_turn (
    pool text collate "C" not null,
    tenant_id uuid not null references tenant (id),
    -- How far its account is ahead of the virtual time, in share-seconds by weight; 0 upwards.
    ahead double precision not null check (ahead >= 0),
    -- How many tenants have their turn before it.
    before integer not null check (before >= 0),
    -- Tasks that got their turn a second, lately.
    rate double precision not null check (rate >= 0),
    -- What keeps it back: 'limit', or nothing but others.
    held_by text check (held_by in ('limit')),
    at timestamptz not null default clock_timestamp(),
    primary key (pool, tenant_id)
) with (fillfactor = 50);

-- One row a pool: why the batcher's last look at it stopped where it did.
create table pool_turn (
    pool text collate "C" primary key,
    -- See `domain::batch::StopReason`.
    stopped text not null,
    -- Slots that it could have handed out, and did.
    slots bigint not null,
    handed_out bigint not null,
    -- Slots that come free a second, lately.
    rate double precision not null,
    free_slots bigint not null,
    at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

alter table concurrency_limit enable row level security;
alter table concurrency_limit force row level security;
alter table tenant_turn enable row level security;
alter table tenant_turn force row level security;
alter table pool_turn enable row level security;
alter table pool_turn force row level security;

create policy own on concurrency_limit to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (coalesce(tenant_id = berth_current_tenant(), false));
create policy limits on concurrency_limit for select to berth_scheduler using (true);
create policy own on tenant_turn for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false));
create policy take_turns on tenant_turn to berth_scheduler using (true) with check (true);
-- How full a pool is is told to all who run there.
create policy look on pool_turn for select to berth_api using (true);
create policy take_turns on pool_turn to berth_scheduler using (true) with check (true);

grant select, insert, update, delete on concurrency_limit to berth_api;
grant select on concurrency_limit to berth_scheduler;
grant select on tenant_turn, pool_turn to berth_api;
grant select, insert, update, delete on tenant_turn, pool_turn to berth_scheduler;
grant insert on attempt_end to berth_rm;
grant select, delete on attempt_end to berth_scheduler;
grant update (paused_at, paused_because) on pool to berth_admin;
grant select on pool_load to berth_api;

do $$
begin
    execute format('create policy maintain on concurrency_limit to %I using (true) with check (true)', current_user);
    execute format('create policy maintain on tenant_turn to %I using (true) with check (true)', current_user);
end
$$;

-- What of a tenant is purged table after table, those that name another before it; a table more is a line here.
create function berth_tenant_tables() returns text[] language sql immutable as $$
    select array['refresh_token', 'sign_in', 'api_key', 'app_user', 'rate_checkpoint', 'tenant_quota_level', 'tenant_event',
        'output_use', 'output_refused', 'concurrency_limit', 'tenant_turn']
$$;
do $$
begin
    execute regexp_replace(pg_get_functiondef('berth_tenant_purge'::regproc), 'array\[''refresh_token.*?\] loop',
        'berth_tenant_tables() loop');
end
$$;

-- A tenant's tasks that wait for their turn or in the broker. The policy on `task` lets only leakproof comparisons reach an index,
-- which those of states are not, so that to find these there means to read all that waits, of all tenants. This runs as its owner
-- and holds the tenant itself. No security barrier: what is asked of it comes from our statements only.
create view task_turn as
    select t.tenant_id, t.id, t.pool, t.state, t.strand, t.start_deadline, t.run_at, t.priority, t.flexible, t.concurrency_key,
        t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports
    from task t
    where t.tenant_id = berth_current_tenant() and t.state in ('ready', 'queued');
grant select on task_turn to berth_api;
