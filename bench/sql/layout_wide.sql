-- The alternative: one table that holds a task from its submit to the end of its history, with its spec and its result.
-- Columns, checks, indexes and storage settings are those of the real tables put together.
create table wide_task (
    tenant_id uuid not null,
    id uuid not null,
    pool text collate "C" not null,
    state task_state not null,
    tier task_tier,
    cpu_millis integer not null check (cpu_millis >= 0),
    memory_mib integer not null check (memory_mib >= 0),
    disk_mib integer not null check (disk_mib >= 0),
    iops integer not null check (iops >= 0),
    ports integer not null check (ports >= 0),
    slots integer not null check (slots >= 1),
    run_at timestamptz not null,
    start_deadline timestamptz not null,
    cap_ms bigint not null check (cap_ms > 0),
    attempt integer not null default 0 check (attempt >= 0),
    failures integer not null default 0 check (failures >= 0 and failures <= attempt),
    max_attempts integer not null check (max_attempts >= 1),
    expire_if_late boolean not null,
    at_most_once boolean not null,
    unique_key text,
    dispatch_epoch integer not null default 0,
    wake_at timestamptz,
    first_started_at timestamptz,
    session_id uuid,
    assignment bigint,
    placed_at timestamptz,
    port_first integer,
    prepaid boolean not null default false,
    priority smallint not null default 0 check (priority between -10 and 10),
    flexible boolean not null default false,
    concurrency_key text check (length(concurrency_key) between 1 and 200),
    strand bigint not null default 0,
    name_key bigint not null default 0,
    created_at timestamptz not null,
    name text,
    run text not null,
    retry text,
    labels jsonb,
    delay_tolerance_ms bigint not null,
    traceparent text,
    key_id text not null,
    finished_at timestamptz,
    reason text,
    exit_code integer,
    primary key (tenant_id, id),
    check ((state in ('running', 'cancelling')) = (session_id is not null)),
    check ((session_id is null) = (placed_at is null) and (session_id is null) = (assignment is null)),
    check (session_id is null or wake_at is not null),
    check ((finished_at is not null)
        = (state in ('succeeded', 'failed', 'aborted', 'killed', 'cancelled', 'expired', 'skipped')))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 1);
create index wide_task_by_turn on wide_task (pool, state, tenant_id, strand, start_deadline, id) where state in ('ready', 'queued');
create index wide_task_by_concurrency_key on wide_task (tenant_id, concurrency_key)
    where concurrency_key is not null and state in ('queued', 'running', 'cancelling');
create index wide_task_by_wake on wide_task (session_id, wake_at) where wake_at is not null;
create unique index wide_task_by_unique_key on wide_task (tenant_id, unique_key)
    where unique_key is not null and finished_at is null;
