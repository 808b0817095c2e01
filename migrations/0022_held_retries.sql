-- Retries that wait because their target fails, and what holds them up.

-- One row a task whose next attempt waits for its target: see docs/retries.md. The task itself is `retrying`, due at the latest
-- moment; whoever lets it go makes it due now. A row whose task has moved on holds nothing and goes when it is met.
create table held_retry (
    tenant_id uuid not null,
    task_id uuid not null,
    -- The attempt that failed: after another the row means nothing.
    attempt integer not null check (attempt >= 1),
    -- What was called: scheme, host and port.
    target text collate "C" not null check (length(target) between 1 and 8192),
    -- Not before this, however well the target does: its own back-off.
    not_before timestamptz not null,
    -- Due by itself then.
    due_at timestamptz not null,
    primary key (tenant_id, task_id)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 1);
-- Which go next.
create index held_retry_by_target on held_retry (tenant_id, target, not_before, task_id);

-- What the resource managers last said of a target for which retries wait: for whoever asks why. A word that is lost costs nothing.
create unlogged table retry_target (
    tenant_id uuid not null,
    target text collate "C" not null check (length(target) between 1 and 8192),
    -- Null: the breaker is closed, and retries wait for the budget.
    next_probe_at timestamptz,
    told_at timestamptz not null,
    primary key (tenant_id, target)
) with (fillfactor = 50);

do $$
declare
    t text;
begin
    foreach t in array array['held_retry', 'retry_target'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy own on %I for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))', t);
        execute format('create policy settle on %I to berth_rm using (true) with check (true)', t);
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
end
$$;
grant select on held_retry, retry_target to berth_api;
grant select, insert, update, delete on held_retry, retry_target to berth_rm;

create or replace function berth_tenant_tables() returns text[] language sql immutable as $$
    select array['refresh_token', 'sign_in', 'api_key', 'app_user', 'rate_checkpoint', 'tenant_quota_level', 'tenant_event',
        'output_use', 'output_refused', 'concurrency_limit', 'tenant_turn', 'schedule_backfill', 'schedule_follow',
        'held_retry', 'retry_target']
$$;
