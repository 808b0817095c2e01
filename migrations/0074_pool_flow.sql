-- Operators see where the tasks of a pool are, and who gets how much of it. Both read tasks of all tenants: as the owner, and only figures
-- leave them. Both read a bounded number of rows, whatever waits.

-- What waits and what runs: at most so many of what waits. Of those that started, whether they did before their start deadline.
create function berth_pool_flow(of_pool text, most integer)
    returns table (state text, tasks bigint, late bigint, first_deadline timestamptz)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    select w.state::text, count(*), count(*) filter (where w.start_deadline < now()), min(w.start_deadline)
        from (select t.state, t.start_deadline from task t where t.pool = of_pool and t.state in ('ready', 'queued') limit most) w
        group by w.state
    union all
    select 'running', count(*), count(*) filter (where r.first_started_at > r.start_deadline), min(r.start_deadline)
        from executor_session s
        cross join lateral (
            select t.first_started_at, t.start_deadline from task t
                where t.session_id = s.id and t.session_id is not null and t.wake_at is not null) r
        where s.ended_at is null and s.expires_at > now() and s.pool = of_pool
        having count(*) > 0
$$;

-- The tenants that the batcher kept as waiting, those with the highest rate first: what each runs, and how its newest finished tasks began.
create function berth_pool_shares(of_pool text, most integer)
    returns table (tenant_id uuid, name text, weight double precision, ahead double precision, before integer, rate double precision,
        held_by text, running bigint, slots bigint, finished bigint, on_time bigint)
    language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$
    with waiting as (
        select w.* from tenant_turn w where w.pool = of_pool and w.at > clock_timestamp() - interval '15 seconds'
            order by w.rate desc, w.before limit most
    ), running as materialized (
        select t.tenant_id, count(*) as tasks, sum(t.slots) as slots
            from executor_session s
            join task t on t.session_id = s.id and t.session_id is not null and t.wake_at is not null
            where s.ended_at is null and s.expires_at > now() and s.pool = of_pool
            group by t.tenant_id
    )
    select w.tenant_id, n.name, coalesce(n.weight, (p.limits ->> 'weight')::double precision, 1), w.ahead, w.before, w.rate, w.held_by,
            coalesce(r.tasks, 0), coalesce(r.slots, 0)::bigint, h.finished, h.on_time
        from waiting w
        join tenant n on n.id = w.tenant_id
        left join plan p on p.name = n.plan
        left join running r on r.tenant_id = w.tenant_id
        cross join lateral (
            select count(*) as finished, count(*) filter (where d.first_started_at <= d.start_deadline) as on_time
            from (select f.first_started_at, f.start_deadline from task_history f
                where f.tenant_id = w.tenant_id and f.finished_at > now() - interval '1 day' and f.first_started_at is not null
                order by f.id desc limit 100) d) h
        order by w.rate desc, w.before
$$;
revoke execute on function berth_pool_flow(text, integer), berth_pool_shares(text, integer) from public;
grant execute on function berth_pool_flow(text, integer), berth_pool_shares(text, integer) to berth_admin;

-- What the batcher tells of a pool.
create policy look_after on pool_turn for select to berth_admin using (true);
grant select on pool_turn to berth_admin;
