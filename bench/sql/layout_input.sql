-- The ids of the tasks that will live, in batches of 500 over 20 tenants, made beforehand. Made anew for each life.
create or replace function bench_tenant(n bigint) returns uuid language sql immutable parallel safe
    return ('01900000-0000-7000-8000-' || lpad(to_hex(n % 20), 12, '0'))::uuid;

-- As UUIDv7 would make it: the time first, here `ms` milliseconds after midnight of today, then chance.
create or replace function bench_id(ms bigint, n bigint) returns uuid language sql stable parallel safe
    return (lpad(to_hex((extract(epoch from date_trunc('day', now(), 'UTC')) * 1000)::bigint + ms), 12, '0')
        || '7' || lpad(to_hex(n & 4095), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid;

create unlogged table if not exists bench_input (batch integer primary key, tenants uuid[] not null, ids uuid[] not null);
create unlogged table if not exists bench_choice (ms double precision not null);
truncate bench_input, bench_choice;

-- Later than every row of history: that takes the first ten hours of the day, each life one of the next ones.
insert into bench_input
select b, array_agg(bench_tenant(n)), array_agg(bench_id(36000000 + :life * 3600000 + (b * 500 + n) / 100, b * 1000000 + n) order by n)
from generate_series(1, :batches) b, generate_series(1, 500) n
group by b;
analyze bench_input;
