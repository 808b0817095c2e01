-- Tasks: the live ones, what they run, and how they ended.
--
-- `task` holds live tasks only, in narrow rows that also carry the lease. What never changes is written
-- once, into `task_spec`. The statement that ends a task moves its row to `task_history`. So the hot path costs the
-- same whatever history holds, and history goes by dropping partitions. Why: docs/adr/0001-table-layout.md.

create type task_state as enum (
    'scheduled', 'ready', 'queued', 'running', 'cancelling', 'retrying',
    'succeeded', 'failed', 'aborted', 'killed', 'cancelled', 'expired', 'skipped'
);
create type task_tier as enum ('basic', 'regular', 'premium');

create table task (
    tenant_id uuid not null,
    id uuid not null,
    pool text collate "C" not null,
    state task_state not null
        check (state in ('scheduled', 'ready', 'queued', 'running', 'cancelling', 'retrying')),
    tier task_tier,
    cpu_millis integer not null check (cpu_millis >= 0),
    memory_mib integer not null check (memory_mib >= 0),
    disk_mib integer not null check (disk_mib >= 0),
    iops integer not null check (iops >= 0),
    ports integer not null check (ports >= 0),
    -- Room it takes, in basic tasks.
    slots integer not null check (slots >= 1),
    -- When it is due: at first, and again after a failure.
    run_at timestamptz not null,
    start_deadline timestamptz not null,
    cap_ms bigint not null check (cap_ms > 0),
    -- Attempts claimed so far; while leased, the fence of the lease.
    attempt integer not null default 0 check (attempt >= 0),
    -- Charged attempts that failed.
    failures integer not null default 0 check (failures >= 0 and failures <= attempt),
    max_attempts integer not null check (max_attempts >= 1),
    expire_if_late boolean not null,
    at_most_once boolean not null,
    unique_key text,
    -- Counts dispatches; a hint names the one it was made for.
    dispatch_epoch integer not null default 0,
    -- When somebody must look at this row if nothing happens to it before: due time, sweep time of a hint, expiry, or
    -- the hard end of a lease.
    wake_at timestamptz,
    -- Found no room: not picked again before this, unless capacity in its pool has risen.
    parked_until timestamptz,
    first_started_at timestamptz,
    -- The lease.
    session_id uuid,
    assignment bigint,
    placed_at timestamptz,
    port_first integer,
    primary key (tenant_id, id),
    constraint leased_means_session check ((state in ('running', 'cancelling')) = (session_id is not null)),
    constraint lease_is_whole check ((session_id is null) = (placed_at is null) and (session_id is null) = (assignment is null)),
    -- Leases are found by session through task_by_wake.
    constraint lease_has_an_end check (session_id is null or wake_at is not null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 1);

-- Whose turn it is: per pool and tenant by start deadline; and what waits in the broker.
create index task_by_turn on task (pool, state, tenant_id, start_deadline, id) where state in ('ready', 'queued');
-- What must be looked at (session null), and the leases of a session.
create index task_by_wake on task (session_id, wake_at) where wake_at is not null;
create unique index task_by_unique_key on task (tenant_id, unique_key) where unique_key is not null;

create table task_spec (
    id uuid primary key,
    tenant_id uuid not null,
    created_at timestamptz not null,
    run_at timestamptz not null,
    name text,
    run text not null,
    -- Null: the default policy.
    retry text,
    labels jsonb,
    delay_tolerance_ms bigint not null,
    traceparent text,
    key_id text not null
) partition by range (id);

create table task_history (
    tenant_id uuid not null,
    id uuid not null,
    pool text collate "C" not null,
    state task_state not null
        check (state in ('succeeded', 'failed', 'aborted', 'killed', 'cancelled', 'expired', 'skipped')),
    tier task_tier,
    cpu_millis integer not null,
    memory_mib integer not null,
    disk_mib integer not null,
    iops integer not null,
    ports integer not null,
    run_at timestamptz not null,
    start_deadline timestamptz not null,
    cap_ms bigint not null,
    attempt integer not null,
    failures integer not null,
    max_attempts integer not null,
    expire_if_late boolean not null,
    at_most_once boolean not null,
    unique_key text,
    first_started_at timestamptz,
    finished_at timestamptz not null,
    reason text,
    exit_code integer,
    primary key (tenant_id, id, finished_at)
) partition by range (finished_at);

-- A few pages a day: tells which days of specs kept history still needs.
create index task_history_by_id on task_history using brin (id uuid_minmax_multi_ops);

-- One row an attempt, inserted once, when it ends. It is also the usage record.
create table attempt (
    tenant_id uuid not null,
    task_id uuid not null,
    attempt integer not null check (attempt >= 1),
    outcome text not null check (outcome in ('succeeded', 'failed', 'killed_cap', 'killed_resources', 'stopped',
                                             'lost', 'handed_back', 'not_started')),
    charged boolean not null,
    pool text collate "C" not null,
    tier task_tier,
    cpu_millis integer not null,
    memory_mib integer not null,
    disk_mib integer not null,
    iops integer not null,
    ports integer not null,
    session_id uuid not null,
    placed_at timestamptz not null,
    ended_at timestamptz not null check (ended_at >= placed_at),
    -- What is billed: from acceptance to the end, never more than the lease lasted; 0 when not charged.
    usage_ms bigint not null check (usage_ms >= 0 and (charged or usage_ms = 0)),
    exit_code integer,
    signal integer,
    reason text,
    stdout_bytes bigint not null default 0,
    stderr_bytes bigint not null default 0,
    primary key (tenant_id, task_id, attempt, ended_at)
) partition by range (ended_at);

create table task_output (
    tenant_id uuid not null,
    task_id uuid not null,
    attempt integer not null,
    stream smallint not null check (stream in (1, 2)),
    seq integer not null check (seq >= 0),
    "offset" bigint not null check ("offset" >= 0),
    data bytea not null check (length(data) <= 65536),
    stored_at timestamptz not null default now(),
    primary key (tenant_id, task_id, attempt, stream, seq, stored_at)
) partition by range (stored_at);

-- Answers to keyed writes, kept at least 24 hours.
create table idempotency (
    tenant_id uuid not null,
    route text collate "C" not null,
    key text collate "C" not null,
    body_hash bytea not null check (length(body_hash) = 32),
    -- A single submit keeps the task's id; anything else keeps its answer.
    task_id uuid,
    status smallint,
    answer bytea,
    created_at timestamptz not null default now(),
    primary key (tenant_id, route, key)
);
create index idempotency_by_age on idempotency (created_at);
