-- The statement of store/src/task/submit/plain.rs; its arrays come from a table instead of from a client.
with input as materialized (
    select i.tenant_id, i.id, i.pool, i.tier, i.cpu_millis, i.memory_mib, i.disk_mib, i.iops, i.ports, i.slots, i.tolerance_ms,
        i.cap_ms, i.max_attempts, i.expire_if_late, i.at_most_once, i.name, i.run, i.retry, i.labels, i.traceparent, i.key_id, i.place,
        now() as created_at, coalesce(i.at, now() + i.delay_ms * interval '1 millisecond') as run_at
    from bench_batch b, unnest(b.tenants, b.ids, b.pools, b.tiers::task_tier[], b.cpu, b.memory, b.disk, b.iops, b.ports,
        b.slots, b.delay_ms, b.at, b.tolerance_ms, b.cap_ms, b.max_attempts, b.expire_if_late, b.at_most_once, b.names,
        b.runs, b.retries, b.labels, b.traceparents, b.key_ids) with ordinality
        as i(tenant_id, id, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, delay_ms, at,
            tolerance_ms, cap_ms, max_attempts, expire_if_late, at_most_once, name, run, retry, labels, traceparent,
            key_id, place)
    where b.number = (select nextval('bench_next'))
), spec as (
    insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
        traceparent, key_id, priority, flexible, concurrency_key)
    select id, tenant_id, created_at, run_at, name, run, retry, labels::jsonb, tolerance_ms, traceparent, key_id, 0, false, null
    from input
), live as (
    insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
        start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand, name_key, wake_at)
    select tenant_id, id, pool, (case when run_at <= created_at then 'ready' else 'scheduled' end)::task_state, tier,
        cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
        run_at + tolerance_ms * interval '1 millisecond', cap_ms, max_attempts, expire_if_late, at_most_once,
        0, false, null, 0, coalesce(hashtextextended(name, 0), 0),
        case when run_at > created_at then run_at
            when expire_if_late then run_at + tolerance_ms * interval '1 millisecond' end
    from input
)
select created_at as created_at, run_at as run_at,
    run_at + tolerance_ms * interval '1 millisecond' as start_deadline
from input order by place;
