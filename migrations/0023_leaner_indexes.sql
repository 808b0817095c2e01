-- Indexes of less.

-- What holds a concurrency key is found by two indexes instead of one of its own: what waits in the broker is little, and stands with
-- its pool. So a task with a key enters one more index once and not twice, which was a tenth of what it costs.

drop index task_by_concurrency_key;
-- Ordered by bytes, the cheapest; and by id, so that a busy key has no long run of equal entries.
create index task_by_concurrency_key on task (tenant_id, concurrency_key collate "C", id)
    where concurrency_key is not null and session_id is not null;

-- A tenant's tasks that hold a concurrency key: queued, running or cancelling. As `task_turn` it runs as its owner and holds the
-- tenant itself.
create view key_holder as
    select t.concurrency_key collate "C" as key, t.id, t.state, t.placed_at, t.cap_ms
    from task t
    where t.tenant_id = berth_current_tenant() and t.concurrency_key is not null and t.session_id is not null
    union all
    select q.concurrency_key collate "C", q.id, q.state, q.placed_at, q.cap_ms
    from pool p cross join lateral (
        -- The offset keeps the planner from reading the whole index instead of each pool's part.
        select t.concurrency_key, t.id, t.state, t.placed_at, t.cap_ms from task t
        where t.pool = p.name and t.state = 'queued' and t.tenant_id = berth_current_tenant() and t.concurrency_key is not null
        offset 0) q;
grant select on key_holder to berth_api;

-- Leases that are to be stopped are looked for with each round of heartbeats: among all leases, and those that lately ended, that look
-- cost more than the leases themselves.
create index task_to_stop on task (session_id) where state = 'cancelling';
