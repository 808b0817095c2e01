-- Claims 500 tasks and ends them: the least that running them must do.
with next as (
    select id from raw_task where state = 0 order by run_at, id limit 500 for update skip locked
), claimed as (
    update raw_task t set state = 1, attempt = attempt + 1, worker = :client_id, claimed_at = now() from next n where t.id = n.id returning t.id
)
select array_agg(id) as ids from claimed \gset
update raw_task set state = 2, ended_at = now() where id = any (:ids::uuid[]);
