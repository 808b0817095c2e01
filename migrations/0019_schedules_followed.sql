-- Which schedule a task came of, and schedules that pause when their tasks fail one after the other.

-- The schedule whose due time made it; nothing for all other tasks, which cost nothing here.
alter table task_spec add column schedule_id uuid;
-- A schedule's tasks, newest first: each day's part is in order of its ids, and so are the days.
create index task_spec_by_schedule on task_spec (tenant_id, schedule_id, id) where schedule_id is not null;

alter table schedule
    -- It is paused when so many of its tasks in a row have ended without success; null: never.
    add column pause_after_failures integer check (pause_after_failures between 1 and 1000),
    -- Those in a row so far, in the order in which they ended.
    add column failures_in_row integer not null default 0 check (failures_in_row >= 0);

-- Tasks of such schedules of which it is not known yet how they ended: one row from the due time to the end, made with the task and
-- taken away by whoever counts its end. So each end counts once, and the statements that end tasks know nothing of it.
create table schedule_follow (
    shard smallint not null,
    task_id uuid not null,
    tenant_id uuid not null,
    schedule_id uuid not null,
    -- When the task was made: no day of the history before it is looked at.
    since timestamptz not null default now(),
    primary key (shard, task_id)
);

alter table schedule_follow enable row level security;
alter table schedule_follow force row level security;
create policy fire on schedule_follow to berth_scheduler using (true) with check (true);
grant select, insert, delete on schedule_follow to berth_scheduler;
do $$
begin
    execute format('create policy maintain on schedule_follow to %I using (true) with check (true)', current_user);
end
$$;

-- That the platform has paused a schedule is told to its tenant, as a pause by anybody else is.
create policy tell_of_a_pause on audit for insert to berth_scheduler
    with check (actor_kind = 'system' and action = 'schedule.pause');

create or replace function berth_tenant_tables() returns text[] language sql immutable as $$
    select array['refresh_token', 'sign_in', 'api_key', 'app_user', 'rate_checkpoint', 'tenant_quota_level', 'tenant_event',
        'output_use', 'output_refused', 'concurrency_limit', 'tenant_turn', 'schedule_backfill', 'schedule_follow']
$$;
