-- A queue as plain as one can be: twelve columns, a key and two indexes, one of them partial.
create table raw_task (
    id uuid primary key, tenant_id uuid not null, pool text not null, state smallint not null, priority smallint not null,
    run_at timestamptz not null, payload jsonb not null, attempt integer not null, worker integer, claimed_at timestamptz,
    ended_at timestamptz, created_at timestamptz not null
) with (fillfactor = 80);
insert into raw_task
select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8'
        || lpad(to_hex(n), 15, '0'))::uuid,
    '01900000-0000-7000-8000-000000000001', 'default', 0, 0, now(), jsonb_build_object('run', repeat('x', 150)), 0, null, null, null, now()
from generate_series(1, :tasks) n;
create index raw_task_ready on raw_task (run_at, id) where state = 0;
create index raw_task_by_tenant on raw_task (tenant_id, created_at);
vacuum analyze raw_task;
