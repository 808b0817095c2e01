-- One task and its spec, made durable: the least that a single submit must do.
with new as (
    select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8'
        || substr(md5(random()::text), 1, 15))::uuid as id
), spec as (
    insert into task_spec (id, tenant_id, created_at, run_at, name, run, labels, delay_tolerance_ms, traceparent, key_id, priority, flexible)
    select id, '01900000-0000-7000-8000-000000000001', now(), now(), 'bench', '{"noop":{"sleep":"0s"}}', '{"team":"bench"}', 300000,
        '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'abcdefghijkl', 0, false
    from new
)
insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at, start_deadline, cap_ms,
    max_attempts, expire_if_late, at_most_once, priority, flexible, strand, name_key)
select '01900000-0000-7000-8000-000000000001', id, 'default', 'ready', 'basic', 250, 512, 1024, 50, 1, 1, now(),
    now() + interval '5 minutes', 60000, 1, false, false, 0, false, 0, 0
from new;
