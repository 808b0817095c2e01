-- One check of a task instead of sixteen: each statement that writes tasks reads the text of every check anew, which was a third of what an
-- insert of one task took in the database.
--
-- Not validated: all rows fulfil it, as they did the sixteen, and a look at each would hold the table for as long.
alter table task
    drop constraint task_state_check,
    drop constraint task_cpu_millis_check,
    drop constraint task_memory_mib_check,
    drop constraint task_disk_mib_check,
    drop constraint task_iops_check,
    drop constraint task_ports_check,
    drop constraint task_slots_check,
    drop constraint task_cap_ms_check,
    drop constraint task_attempt_check,
    drop constraint task_check,
    drop constraint task_max_attempts_check,
    drop constraint task_priority_check,
    drop constraint task_concurrency_key_check,
    drop constraint leased_means_session,
    drop constraint lease_is_whole,
    drop constraint lease_has_an_end,
    add constraint task_is_sound check (
        -- The states up to this one are those of live tasks.
        state <= 'retrying'
        and least(cpu_millis, memory_mib, disk_mib, iops, ports, failures, attempt - failures) >= 0
        and least(slots, max_attempts) >= 1
        and cap_ms > 0
        and abs(priority) <= 10
        and case when state in ('running', 'cancelling')
            -- A lease is whole, and has an end: leases are found by session and end.
            then num_nulls(session_id, assignment, placed_at, wake_at) = 0
            else num_nonnulls(session_id, assignment, placed_at) = 0 end
        and length(concurrency_key) between 1 and 200
    ) not valid;
