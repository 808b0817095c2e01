-- The life of tasks on the real tables, in batches of 500: the statements of store/src/task, with plain values where a
-- client would send arrays that are the same for all. A test (src/layout/drift.rs) holds the columns that they write equal.
-- Left out on purpose, from both layouts alike, because it costs a statement and not a task: the row of the batcher
-- (dispatched), the rows of the sessions and the bounds on the days of specs (placed), sizes without room (choose).
create or replace procedure bench_narrow_life(batches integer, waiting integer) language plpgsql as $$
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
            with input as materialized (select p.tenant_id, p.id from unnest(t, i) as p(tenant_id, id)
            ), spec as (
                insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms,
                    traceparent, key_id, priority, flexible, concurrency_key, schedule_id, due_at, schedule_name)
                select p.id, p.tenant_id, now(), now(), 'render', '{"command":{"argv":["/usr/bin/python3","/srv/render.py","--input","s3://media-bucket/2026/07/source-0001.mov","--preset","1080p"],"env":{"REGION":"eu-west-1","LEVEL":"info"}}}', null, '{"team":"media","env":"prod"}'::jsonb, 300000,
                    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'abcdefghijkl', 0, false, null, null, null, null
                from input p
            )
            insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, priority, flexible, concurrency_key, strand, name_key, wake_at)
            select p.tenant_id, p.id, 'default', 'ready', 'basic', 250, 512, 1024, 50, 1, 1, now(),
                now() + interval '5 minutes', 60000, 3, false, false, 0, false, null, 0, 0, null::timestamptz
            from input p;
            commit;
        end if;
        continue when number <= waiting;
        -- choose, as store/src/task/candidates.rs
        began := clock_timestamp();
        with recursive active as (
            (select tenant_id from task where pool = 'default' and state = 'ready' order by state, tenant_id limit 1)
            union all
            select (select n.tenant_id from task n where n.pool = 'default' and n.state = 'ready' and n.tenant_id > a.tenant_id
                order by n.state, n.tenant_id limit 1)
            from active a where a.tenant_id is not null
        )
        select array_agg(c.tenant_id order by c.tenant_id, c.id), array_agg(c.id order by c.tenant_id, c.id) into t, i
        from active a
        cross join lateral (
            select n.tenant_id, n.id, n.start_deadline, n.cpu_millis, n.memory_mib, n.disk_mib, n.iops, n.ports, n.slots, n.cap_ms,
                n.prepaid
            from task n
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
            update task k set state = 'queued', dispatch_epoch = k.dispatch_epoch + 1, prepaid = true,
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
            update task k set state = 'running', attempt = k.attempt + 1, session_id = s, assignment = 1, port_first = 20000,
                placed_at = now(), prepaid = false, first_started_at = coalesce(k.first_started_at, now()),
                wake_at = now() + (k.cap_ms + 10000) * interval '1 millisecond'
            from unnest(t, i) as p(tenant_id, id)
            where k.tenant_id = any (array[p.tenant_id]) and k.id = p.id and k.state = 'queued' and k.dispatch_epoch = 1
                and not (k.expire_if_late and k.first_started_at is null and k.start_deadline < now())
            returning k.id, k.attempt, k.session_id
        )
        select count(*), sum(length(f.run)) into got from claimed c
            left join lateral (select f.run, f.retry, f.traceparent from task_spec f where f.id = c.id limit 1) f on true;
        if got <> 500 then raise exception 'placed % of 500', got; end if;
        commit;
        -- completed
        with gone as (
            delete from task k using unnest(t, i) as p(tenant_id, id)
            where k.tenant_id = any (array[p.tenant_id]) and k.id = p.id and k.attempt = 1 and k.session_id = s
                and k.state in ('running', 'cancelling')
            returning k.tenant_id, k.id, k.pool, k.tier, k.cpu_millis, k.memory_mib, k.disk_mib, k.iops, k.ports, k.attempt,
                k.run_at, k.start_deadline, k.cap_ms, k.failures, k.max_attempts, k.expire_if_late, k.at_most_once, k.unique_key,
                k.first_started_at, k.session_id, k.placed_at
        ), history as (
            insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key,
                first_started_at, finished_at, reason, exit_code)
            select tenant_id, id, pool, 'succeeded', tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key,
                first_started_at, greatest(now(), placed_at), null, 0
            from gone
        ), ended as (
            insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib,
                disk_mib, iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason,
                stdout_bytes, stderr_bytes)
            select tenant_id, id, attempt, 'succeeded', true, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                session_id, placed_at, greatest(now(), placed_at),
                greatest(0, least(5, (extract(epoch from now() - placed_at) * 1000)::bigint)), 0, null, null, 0, 0
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

-- Tasks that have ended, as if they had come over the first ten hours of today. All in the partitions that the next ones go to:
-- in practice most of history lies in those of other days, which nothing touches.
create or replace procedure bench_narrow_fill(tasks integer) language plpgsql as $$
begin
    insert into task_spec (id, tenant_id, created_at, run_at, name, run, retry, labels, delay_tolerance_ms, traceparent, key_id)
    select bench_id(36000000::bigint * n / tasks, n), bench_tenant(n), now(), now(), 'render', '{"command":{"argv":["/usr/bin/python3","/srv/render.py","--input","s3://media-bucket/2026/07/source-0001.mov","--preset","1080p"],"env":{"REGION":"eu-west-1","LEVEL":"info"}}}', null, '{"team":"media","env":"prod"}'::jsonb, 300000,
        '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'abcdefghijkl'
    from generate_series(1, tasks) n;
    insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at,
        start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key, first_started_at,
        finished_at, reason, exit_code)
    select bench_tenant(n), bench_id(36000000::bigint * n / tasks, n), 'default', 'succeeded', 'basic', 250, 512, 1024, 50, 1, now(),
        now() + interval '5 minutes', 60000, 1, 0, 3, false, false, null, now(), now(), null, 0
    from generate_series(1, tasks) n;
    call bench_attempts_fill(tasks);
end
$$;
