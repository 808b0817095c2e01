-- Indexes of less, again: a hint enters one less, and a task with a concurrency key none more than any other.

-- What waits for a time and what is leased have an index each. What waits in the broker is in neither: it is little, it stands with its
-- pool in `task_by_turn`, and nearly all of it is gone long before it is stale.
drop index task_by_wake;
create index task_by_due on task (wake_at) where session_id is null and wake_at is not null and state <> 'queued';
-- Only for statements that say that a lease has an end: one that looks for a certain task must not read all leases, which a planner
-- that knows of none takes for cheap.
create index task_by_session on task (session_id, wake_at) where session_id is not null and wake_at is not null;

-- What holds a concurrency key is found among all that is queued or leased, as what holds a tenant's limit is.
drop index task_by_concurrency_key;
create or replace view key_holder as
    -- The tenant is a check and no more: by it alone the planner might read all that waits.
    select t.concurrency_key collate "C" as key, t.id, t.state, t.placed_at, t.cap_ms
    from task t
    where t.session_id is not null and t.wake_at is not null and t.concurrency_key is not null
        and coalesce(t.tenant_id = berth_current_tenant(), false)
    union all
    select q.concurrency_key collate "C", q.id, q.state, q.placed_at, q.cap_ms
    from pool p cross join lateral (
        -- The offset keeps the planner from reading the whole index instead of each pool's part.
        select t.concurrency_key, t.id, t.state, t.placed_at, t.cap_ms from task t
        where t.pool = p.name and t.state = 'queued' and t.tenant_id = berth_current_tenant() and t.concurrency_key is not null
        offset 0) q;
