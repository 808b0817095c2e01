-- Batches of 1000 rows as the arrays that the api sends, made beforehand, so that making them is not measured.
create unlogged table bench_batch (
    number bigint primary key, tenants uuid[], ids uuid[], pools text[], tiers text[], cpu integer[], memory integer[], disk integer[],
    iops integer[], ports integer[], slots integer[], delay_ms bigint[], at timestamptz[], tolerance_ms bigint[], cap_ms bigint[],
    max_attempts integer[], expire_if_late boolean[], at_most_once boolean[], names text[], runs text[], retries text[], labels text[],
    traceparents text[], key_ids text[]
);
insert into bench_batch
select b,
    array_agg('01900000-0000-7000-8000-000000000001'::uuid),
    -- As UUIDv7 would be: time first.
    array_agg((lpad(to_hex((extract(epoch from now()) * 1000)::bigint + b), 12, '0') || '7' || lpad(to_hex(n), 3, '0') || '8'
        || substr(md5(b::text || '/' || n::text), 1, 15))::uuid order by n),
    array_agg('default'::text), array_agg('basic'::text), array_agg(250), array_agg(512), array_agg(1024), array_agg(50), array_agg(1),
    array_agg(1), array_agg(0::bigint), array_agg(null::timestamptz), array_agg(300000::bigint), array_agg(60000::bigint), array_agg(1),
    array_agg(false), array_agg(false), array_agg('bench'::text), array_agg('{"noop":{"sleep":"0s"}}'::text), array_agg(null::text),
    array_agg('{"team":"bench"}'::text), array_agg('00-' || md5(n::text) || '-' || substr(md5(b::text), 1, 16) || '-01'),
    array_agg('abcdefghijkl'::text)
from generate_series(1, :batches) b, generate_series(1, 1000) n
group by b;
create sequence bench_next;
