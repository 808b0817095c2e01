-- Row-level policies and grants: each role sees and does just what its statements need.

do $$
declare
    t text;
begin
    foreach t in array array['task', 'task_spec', 'task_history', 'attempt', 'task_output', 'idempotency'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        -- One tenant's request: nothing without a tenant, and nothing of another. With the `coalesce` this is a check and
        -- no more: with bare equality the planner may read a whole tenant by it, where the statement names the row.
        execute format('create policy own on %I to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
            with check (tenant_id = berth_current_tenant())', t);
        -- The owner of the tables, who is no service, keeps house: see 0006_partitions.sql.
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
end
$$;

create policy submit on task to berth_submit using (true) with check (true);
create policy submit on task_spec to berth_submit using (true) with check (true);
create policy submit on task_history for select to berth_submit using (true);
create policy submit on idempotency to berth_submit using (true) with check (true);

create policy schedule on task to berth_scheduler using (true) with check (true);
create policy schedule on task_spec for select to berth_scheduler using (true);
create policy schedule on task_history to berth_scheduler using (true) with check (true);
create policy schedule on attempt for select to berth_scheduler using (true);
create policy schedule on idempotency to berth_scheduler using (true) with check (true);

create policy place on task to berth_rm using (true) with check (true);
create policy place on task_spec for select to berth_rm using (true);
create policy place on task_history to berth_rm using (true) with check (true);
create policy place on attempt to berth_rm using (true) with check (true);
create policy place on task_output to berth_rm using (true) with check (true);

-- api: reads, and cancels.
grant select, update, delete on task to berth_api;
grant select on task_spec, attempt, task_output to berth_api;
grant select, insert on task_history to berth_api;
grant select, insert, update on idempotency to berth_api;
grant select (id, executor_id) on executor_session to berth_api;

grant select, insert on task, task_spec to berth_submit;
grant select on task_history to berth_submit;
grant select, insert, update on idempotency to berth_submit;

grant select, update, delete on task to berth_scheduler;
grant select on task_spec, attempt to berth_scheduler;
grant select, insert on task_history to berth_scheduler;
grant select, delete on idempotency to berth_scheduler;
grant select, update on leadership to berth_scheduler;
grant select on executor_session to berth_scheduler;
grant select, delete on pool_load to berth_scheduler;

grant select, update, delete on task to berth_rm;
grant select on task_spec to berth_rm;
grant select, insert on task_history, attempt, task_output to berth_rm;
grant select, insert, update on executor_session to berth_rm;
grant select, insert, update, delete on pool_load to berth_rm;
