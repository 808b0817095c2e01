-- The same life on the wide table: the same statements, but the end updates the row in place instead of moving it, and
-- the claim reads the spec from the row it has in hand.
create or replace procedure bench_wide_life(batches integer, waiting integer) language plpgsql as $$
declare
    number integer;
    began timestamptz;
    t uuid[];
    i uuid[];
    s uuid := gen_random_uuid();
    got bigint;
begin
    -- First as many batches as shall wait, then one in and one out, then the rest out.
    for number in 1 .. batches + waiting loop
        if number <= batches then
            -- submit
            select b.tenants, b.ids into strict t, i from bench_input b where b.batch = number;
            insert into wide_task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand, name_key, wake_at,
                created_at, name, run, retry, labels, delay_tolerance_ms, traceparent, key_id)
            select p.tenant_id, p.id, 'default', 'ready', 'basic', 250, 512, 1024, 50, 1, 1, now(),
                now() + interval '5 minutes', 60000, 3, false, false, 0, false, null, 0, 0, null::timestamptz,
                now(), 'render', '{"command":{"argv":["/usr/bin/python3","/srv/render.py","--input","s3://media-bucket/2026/07/source-0001.mov","--preset","1080p"],"env":{"REGION":"eu-west-1","LEVEL":"info"}}}', null, '{"team":"media","env":"prod"}'::jsonb, 300000,
                '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'abcdefghijkl'
            from unnest(t, i) as p(tenant_id, id);
            commit;
        end if;
        continue when number <= waiting;
        -- choose, as store/src/task/candidates.rs
        began := clock_timestamp();
        with recursive active as (
            (select tenant_id from wide_task where pool = 'default' and state = 'ready' order by state, tenant_id limit 1)
            union all
            select (select n.tenant_id from wide_task n where n.pool = 'default' and n.state = 'ready' and n.tenant_id > a.tenant_id
                order by n.state, n.tenant_id limit 1)
            from active a where a.tenant_id is not null
        )
        select array_agg(c.tenant_id order by c.tenant_id, c.id), array_agg(c.id order by c.tenant_id, c.id) into t, i
        from active a
        cross join lateral (
            select n.tenant_id, n.id, n.start_deadline, n.cpu_millis, n.memory_mib, n.disk_mib, n.iops, n.ports, n.slots, n.cap_ms,
                n.prepaid
            from wide_task n
            where n.pool = 'default' and n.state = 'ready' and n.tenant_id = a.tenant_id and n.strand = 0
                and n.cpu_millis <= 1000000 and n.memory_mib <= 1000000 and n.disk_mib <= 1000000 and n.iops <= 1000000
                and n.ports <= 4096
                and not (n.expire_if_late and n.first_started_at is null and n.start_deadline < now())
            order by n.state, n.start_deadline, n.id
            limit 25
        ) c
        where a.tenant_id is not null;
        insert into bench_choice values (extract(epoch from clock_timestamp() - began) * 1000);
        -- dispatched
        perform set_config('synchronous_commit', 'off', true);
        with marked as (
            update wide_task k set state = 'queued', dispatch_epoch = k.dispatch_epoch + 1, prepaid = true,
                wake_at = now() + 5000 * interval '1 millisecond'
            from unnest(t, i) as p(tenant_id, id)
            where k.tenant_id = any (array[p.tenant_id]) and k.id = p.id and k.state = 'ready'
            returning k.tenant_id, k.id, k.dispatch_epoch
        )
        select count(*) into got from marked;
        if got <> 500 then raise exception 'dispatched % of 500', got; end if;
        commit;
        -- placed
        with claimed as (
            update wide_task k set state = 'running', attempt = k.attempt + 1, session_id = s, assignment = 1, port_first = 20000,
                placed_at = now(), prepaid = false, first_started_at = coalesce(k.first_started_at, now()),
                wake_at = now() + (k.cap_ms + 10000) * interval '1 millisecond'
            from unnest(t, i) as p(tenant_id, id)
            where k.tenant_id = any (array[p.tenant_id]) and k.id = p.id and k.state = 'queued' and k.dispatch_epoch = 1
                and not (k.expire_if_late and k.first_started_at is null and k.start_deadline < now())
            returning k.id, k.attempt, k.session_id, k.run, k.retry, k.traceparent
        )
        select count(*), sum(length(c.run)) into got from claimed c;
        if got <> 500 then raise exception 'placed % of 500', got; end if;
        commit;
        -- completed
        with gone as (
            update wide_task k set state = 'succeeded', finished_at = greatest(now(), k.placed_at), exit_code = 0,
                session_id = null, assignment = null, placed_at = null, port_first = null, wake_at = null
            from unnest(t, i) as p(tenant_id, id)
            where k.tenant_id = any (array[p.tenant_id]) and k.id = p.id and k.attempt = 1 and k.session_id = s
                and k.state in ('running', 'cancelling')
            returning k.tenant_id, k.id, k.pool, k.tier, k.cpu_millis, k.memory_mib, k.disk_mib, k.iops, k.ports, k.attempt, k.first_started_at
        ), ended as (
            insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib,
                disk_mib, iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason,
                stdout_bytes, stderr_bytes)
            select tenant_id, id, attempt, 'succeeded', true, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                s, first_started_at, greatest(now(), first_started_at),
                greatest(0, least(5, (extract(epoch from now() - first_started_at) * 1000)::bigint)), 0, null, null, 0, 0
            from gone
        )
        select count(*) into got from gone;
        if got <> 500 then raise exception 'ended % of 500', got; end if;
        commit;
    end loop;
end
$$;

create or replace procedure bench_attempts_fill(tasks integer) language sql as $$
    insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
        session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason, stdout_bytes, stderr_bytes)
    select bench_tenant(n), bench_id(36000000::bigint * n / tasks, n), 1, 'succeeded', true, 'default', 'basic', 250, 512, 1024, 50, 1,
        '01900000-0000-7000-8000-0000000000ff', now(), now(), 5, 0, null, null, 0, 0
    from generate_series(1, tasks) n;
$$;

create or replace procedure bench_wide_fill(tasks integer) language plpgsql as $$
begin
    insert into wide_task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, wake_at,
        attempt, dispatch_epoch, first_started_at, created_at, name, run, retry, labels, delay_tolerance_ms, traceparent, key_id,
        finished_at, exit_code)
    select bench_tenant(n), bench_id(36000000::bigint * n / tasks, n), 'default', 'succeeded', 'basic', 250, 512, 1024, 50, 1, 1, now(),
        now() + interval '5 minutes', 60000, 3, false, false, null,
        1, 1, now(), now(), 'render', '{"command":{"argv":["/usr/bin/python3","/srv/render.py","--input","s3://media-bucket/2026/07/source-0001.mov","--preset","1080p"],"env":{"REGION":"eu-west-1","LEVEL":"info"}}}', null, '{"team":"media","env":"prod"}'::jsonb, 300000,
        '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'abcdefghijkl',
        now(), 0
    from generate_series(1, tasks) n;
    call bench_attempts_fill(tasks);
end
$$;
