-- Copies of two tasks of the bench, one that waits and one that has ended, for many tenants.

-- A tenant's place among all, from 0.
create table bench_tenant (place int primary key, id uuid not null);
create table bench_task as select * from task;
create table bench_task_spec as select * from task_spec where id in (select id from task);
create table bench_task_history as select * from task_history;
create table bench_attempt as
    select (jsonb_populate_record(null::attempt, to_jsonb(h) || '{"attempt": 1, "outcome": "succeeded", "charged": true, "usage_ms": 1000,
        "stdout_bytes": 0, "stderr_bytes": 0}' || jsonb_build_object('session_id', gen_random_uuid()))).* from task_history h;

-- Inserts into a table what its model says, but for the columns in `instead`, once for each row `m` of `source`.
create procedure bench_copy(what text, instead jsonb, source text) language plpgsql as $$
begin
    execute (
        select format('insert into %I (%s) select %s from bench_%I x, (%s) m', what,
            string_agg(quote_ident(attname), ', ' order by attnum),
            string_agg(coalesce(instead ->> attname::text, 'x.' || quote_ident(attname)), ', ' order by attnum), what, source)
        from pg_attribute where attrelid = what::regclass and attnum > 0 and not attisdropped);
end $$;

-- The id of a tenant's task, as those are that the api gives out: by time first.
create function bench_id(tenant uuid, place int, made timestamptz) returns uuid language sql as $$
    select (lpad(to_hex((extract(epoch from made) * 1000)::bigint), 12, '0') || '7' || substr(h, 1, 3) || '8' || substr(h, 4, 15))::uuid
        from md5(tenant::text || place) h
$$;

-- Stores tasks that wait: `source` says of whom, of what id, and when they were made.
create procedure bench_wait(source text) language plpgsql as $$
declare
    made jsonb := '{"id": "m.id", "tenant_id": "m.tenant", "created_at": "m.at", "run_at": "m.at", "start_deadline": "m.at + interval ''1 day''"}';
begin
    call bench_copy('task_spec', made, source);
    call bench_copy('task', made, source);
end $$;

-- Of each of so many tenants, as many that wait and that have ended, from within the last hour.
create procedure bench_fill(tenants int, waiting int, ended int) language plpgsql as $$
declare
    one uuid;
    source text;
    made jsonb := '{"id": "m.id", "task_id": "m.id", "tenant_id": "m.tenant", "created_at": "m.at", "run_at": "m.at", "state": "''succeeded''",
        "attempt": "1", "placed_at": "m.at", "ended_at": "m.at + interval ''1 second''", "finished_at": "m.at + interval ''1 second''"}';
begin
    insert into tenant select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'name', t.name || n, 'name_key', t.name || n))).*
        from tenant t, generate_series(2, tenants) n;
    -- The one that there was comes first: of the others each has its name and a number.
    insert into bench_tenant select row_number() over (order by length(name), name) - 1, id from tenant;
    commit;
    for one in select id from bench_tenant loop
        source := 'select %1$L::uuid as tenant, bench_id(%1$L, %2$s * n, at) as id, at
            from (select n, now() - interval ''1 hour'' * n / %3$s as at from generate_series(1, %3$s) n) m';
        call bench_wait(format(source, one, 1, waiting));
        commit;
        continue when ended = 0;
        source := format(source, one, -1, ended);
        call bench_copy('task_spec', made - 'attempt', source);
        call bench_copy('task_history', made, source);
        call bench_copy('attempt', made, source);
        commit;
    end loop;
end $$;

-- `count` more that wait, of all tenants in turn; `before` came like that until now.
create procedure bench_refill(before int, count int) language plpgsql as $$
begin
    call bench_wait(format('select t.id as tenant, bench_id(t.id, 1000000 + n, now()) as id, now() as at
        from generate_series(%s + 1, %1$s + %s) n join bench_tenant t on t.place = n %% (select count(*) from bench_tenant)', before, count));
end $$;
