-- Who may act: the active batcher, and which resource manager owns an executor.

create table leadership (
    role text primary key check (role in ('batcher')),
    holder uuid,
    epoch bigint not null default 0,
    expires_at timestamptz not null default '-infinity'
);
insert into leadership (role) values ('batcher');

-- One boot of an executor. Renewed by a heartbeat; every lease on it lives as long as it does.
create table executor_session (
    id uuid primary key,
    executor_id text collate "C" not null,
    pool text collate "C" not null,
    state text not null check (state in ('active', 'draining', 'over')),
    owner uuid not null,
    owner_epoch bigint not null check (owner_epoch >= 1),
    expires_at timestamptz not null,
    cpu_millis integer not null check (cpu_millis >= 0),
    memory_mib integer not null check (memory_mib >= 0),
    disk_mib integer not null check (disk_mib >= 0),
    iops integer not null check (iops >= 0),
    port_first integer not null check (port_first >= 0),
    port_count integer not null check (port_count >= 0 and port_first + port_count <= 65536),
    version text not null,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    end_reason text,
    check ((state = 'over') = (ended_at is not null))
) with (fillfactor = 50);
create index executor_session_live on executor_session (expires_at) where ended_at is null;

-- What each resource manager has to give, per pool. A hint for sizing batches, never a limit: unlogged, rewritten all the
-- time, and gone after a crash until the next report.
create unlogged table pool_load (
    owner uuid not null,
    pool text collate "C" not null,
    free_slots bigint not null,
    -- Slots given back since the process started.
    completed_slots bigint not null,
    -- The largest vector any of its executors could hold when empty.
    largest_cpu_millis integer not null,
    largest_memory_mib integer not null,
    largest_disk_mib integer not null,
    largest_iops integer not null,
    largest_ports integer not null,
    reported_at timestamptz not null,
    primary key (owner, pool)
) with (fillfactor = 50);
