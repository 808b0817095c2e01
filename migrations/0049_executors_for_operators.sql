-- Operators see the executors that are connected and how much room each has. What is granted is the sum of its live leases, so this
-- reads tasks, of all tenants: as the owner, and only sums leave it.

create function berth_executors(of_pool text, after_executor text, after_start timestamptz, most integer)
    returns table (session_id uuid, executor_id text, pool text, state text, version text, started_at timestamptz, expires_at timestamptz,
        quarantined_at timestamptz, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer, ports integer,
        running bigint, cpu_millis_granted bigint, memory_mib_granted bigint, disk_mib_granted bigint, iops_granted bigint,
        ports_granted bigint)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    select s.id, s.executor_id, s.pool, s.state, s.version, s.started_at, s.expires_at, s.quarantined_at,
            s.cpu_millis, s.memory_mib, s.disk_mib, s.iops, s.port_count,
            g.running, g.cpu_millis, g.memory_mib, g.disk_mib, g.iops, g.ports
        from (
            select e.* from executor_session e
                where e.ended_at is null and e.expires_at > now() and (of_pool is null or e.pool = of_pool)
                    and (after_executor is null or (e.executor_id, e.started_at) > (after_executor, after_start))
                order by e.executor_id, e.started_at limit most) s
        cross join lateral (
            select count(*) as running, coalesce(sum(t.cpu_millis), 0) as cpu_millis, coalesce(sum(t.memory_mib), 0) as memory_mib,
                coalesce(sum(t.disk_mib), 0) as disk_mib, coalesce(sum(t.iops), 0) as iops, coalesce(sum(t.ports), 0) as ports
            from task t where t.session_id = s.id and t.session_id is not null and t.wake_at is not null) g
        order by s.executor_id, s.started_at
$$;
revoke execute on function berth_executors(text, text, timestamptz, integer) from public;
grant execute on function berth_executors(text, text, timestamptz, integer) to berth_admin;
