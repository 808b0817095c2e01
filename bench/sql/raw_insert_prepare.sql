-- Batches of 1000 rows as the array that the api sends, made beforehand, so that making it is not measured.
create unlogged table bench_batch (number bigint primary key, tasks submitted_task[]);
insert into bench_batch
select b, array_agg(row(
    '01900000-0000-7000-8000-000000000001',
    -- As UUIDv7 would be: time first.
    lpad(to_hex((extract(epoch from now()) * 1000)::bigint + b), 12, '0') || '7' || lpad(to_hex(n), 3, '0') || '8'
        || substr(md5(b::text || '/' || n::text), 1, 15),
    'default', 'basic', 250, 512, 1024, 50, 1, 1, 0, null, 300000, 60000, 1, false, false, 0, false, null, 0, 'bench',
    '{"noop":{"sleep":"0s"}}', null, '{"team":"bench"}', '00-' || md5(n::text) || '-' || substr(md5(b::text), 1, 16) || '-01',
    'abcdefghijkl', null, null, null, null, null, null, null
)::text::submitted_task order by n)
from generate_series(1, :batches) b, generate_series(1, 1000) n
group by b;
create sequence bench_next;
