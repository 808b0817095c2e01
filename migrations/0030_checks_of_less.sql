-- Checks of less: each statement that writes a row reads the text of its table's checks anew, and what that took was a tenth of what a lone
-- task took in the database.

-- Of a live task its table still holds what each step changes: the state and the lease. The numbers are looked at where they are set, by
-- the statement that stores the task (`berth_new_task`); and a row that came in past it is handed to nobody (`berth_task_is_sound`).
--
-- Not validated, here and below: all rows fulfil it, as they did what it replaces, and a look at each would hold the table for as long.
alter table task
    drop constraint task_is_sound,
    add constraint lease_is_whole check (
        -- The states up to this one are those of live tasks.
        state <= 'retrying'
        -- A lease is whole, and has an end: leases are found by session and end.
        and case when state in ('running', 'cancelling')
            then row(session_id, assignment, placed_at, wake_at) is not null
            else row(session_id, assignment, placed_at) is null end
    ) not valid;

create function berth_refuse_task(id uuid) returns uuid
    language plpgsql immutable parallel safe
    as $$
    begin
        raise check_violation using message = format('task %s is not stored: one of its numbers is out of range', id),
            table = 'task', constraint = 'berth_new_task';
    end $$;

-- The id of a task that is to be stored, where its numbers are those of a task, and an error where not. The planner puts it in its place.
create function berth_new_task(id uuid, cpu_millis integer, memory_mib integer, disk_mib integer, iops integer, ports integer, slots integer,
    cap_ms bigint, max_attempts integer, priority smallint, concurrency_key text) returns uuid
    language sql immutable parallel safe
    return case when least(cpu_millis, memory_mib, disk_mib, iops, ports) >= 0 and least(slots, max_attempts) >= 1 and cap_ms > 0
            and priority between -10 and 10 and (concurrency_key is null or length(concurrency_key) between 1 and 200)
        then id else berth_refuse_task(id) end;

alter table attempt
    drop constraint attempt_attempt_check,
    drop constraint attempt_check,
    drop constraint attempt_check1,
    drop constraint attempt_outcome_check,
    add constraint attempt_is_sound check (
        attempt >= 1 and ended_at >= placed_at and usage_ms >= 0 and (charged or usage_ms = 0)
        and outcome in ('succeeded', 'failed', 'killed_cap', 'killed_resources', 'stopped', 'lost', 'handed_back', 'not_started')
    ) not valid;

alter table task_history
    drop constraint task_history_state_check,
    -- The states from this one on are those of tasks that have ended.
    add constraint state_is_an_end check (state >= 'succeeded') not valid;
