-- no-transaction
--
-- The database refuses rows that no service could read: numbers and times out of range, states of another table, half a lease.
--
-- These checks are their tables' again; 0029 and 0030 had left them to the statements that store tasks. An insert of a lone task takes
-- some microseconds longer with them.
--
-- A row that violates one ends the migration with an error that names it, before a check is added. The checks are added without reading
-- the rows again: each table is locked for a moment only, and not waited for for long, because everything else queues behind. One
-- commit for each, so that no transaction keeps dead rows of other tables, or holds two tables in an order of its own. Whatever ends
-- this in the middle, the next run does all of it again. 0046 validates the checks while the services go on.
--
-- No statement calls `berth_task_is_sound`, `berth_schedule_is_sound` and `berth_new_task` any more. They stay for processes of the
-- release before, which go on until each is replaced; a later migration drops them.

do $$
declare
    -- Other times could not be decoded.
    times constant text := $t$least(%1$s) >= timestamptz '1970-01-01 00:00:00+00'
        and greatest(%1$s) < timestamptz '20000-01-01 00:00:00+00'$t$;
    -- Table, key, and the name and the text of the check. A backfill stands at the time before its first. A lease has an end because leases are found by session and end.
    checks constant text[] := array[
        array['task', 'tenant_id, id', 'lease_is_whole', $c$
            state in ('scheduled', 'ready', 'queued', 'running', 'cancelling', 'retrying')
            and case when state in ('running', 'cancelling')
                then row(session_id, assignment, placed_at, wake_at) is not null
                else row(session_id, assignment, placed_at) is null end$c$],
        array['task', 'tenant_id, id', 'numbers_are_in_range', $c$
            least(cpu_millis, memory_mib, disk_mib, iops, ports, dispatch_epoch, failures, attempt - failures) >= 0
            and least(slots, max_attempts) >= 1
            and greatest(slots, max_attempts, attempt, dispatch_epoch) <= 2000000000
            and cap_ms between 1 and 3153600000000
            and abs(priority) <= 10
            and length(concurrency_key) between 1 and 200$c$],
        array['task', 'tenant_id, id', 'times_are_in_range',
            format(times, 'run_at, start_deadline, first_started_at, placed_at, wake_at')],
        array['task_spec', 'tenant_id, id', 'times_are_in_range', format(times, 'created_at, run_at, due_at')],
        array['task_history', 'tenant_id, id', 'state_is_an_end', $c$
            state in ('succeeded', 'failed', 'aborted', 'killed', 'cancelled', 'expired', 'skipped')$c$],
        array['task_history', 'tenant_id, id', 'times_are_in_range',
            format(times, 'run_at, start_deadline, first_started_at, finished_at')],
        array['attempt', 'tenant_id, task_id, attempt', 'times_are_in_range', format(times, 'placed_at, ended_at')],
        array['schedule', 'id', 'numbers_are_in_range', 'greatest(version, fires) <= 1000000000000'],
        array['schedule', 'id', 'times_are_in_range',
            format(times, 'created_at, updated_at, due_at, fire_at, paused_at, ended_at, timing_since, deleted_at')],
        array['schedule_span', 'schedule_id, version', 'times_are_in_range', format(times, 'until, timing_since')],
        array['schedule_backfill', 'schedule_id', 'rate_is_in_range', 'per_second <= 1000000'],
        array['schedule_backfill', 'schedule_id', 'times_are_in_range',
            replace(format(times, 'reached, until, next_at, created_at'), '1970-01-01', '1969-12-31')]
    ];
    part text[];
    violator text;
begin
    -- Nothing is due before 1970: a backfill from before waited for ever, and begins there now.
    update schedule_backfill
        set reached = greatest(reached, timestamptz '1969-12-31 23:59:59.999999+00'), until = greatest(until, timestamptz '1970-01-01 00:00:00+00')
        where least(reached, until) < timestamptz '1969-12-31 23:59:59.999999+00';
    commit;
    foreach part slice 1 in array checks loop
        execute format('select row(%s)::text from public.%I where not (%s) limit 1', part[2], part[1], part[4]) into violator;
        if violator is not null then
            raise check_violation using
                table = part[1], constraint = part[3],
                message = format('row (%1$s) = %2$s of table %3$s violates the new check %4$s; no check was added. Correct it or delete '
                    'it, and migrate again. All such rows: select %1$s from %3$s where not (%5$s)', part[2], violator, part[1], part[3],
                    trim(regexp_replace(part[4], '\s+', ' ', 'g')));
        end if;
        commit;
    end loop;
    foreach part slice 1 in array checks loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                -- Most checks are not there yet to be dropped.
                perform set_config('client_min_messages', 'warning', true);
                execute format('alter table public.%1$I drop constraint if exists %2$I, add constraint %2$I check (%3$s) not valid',
                    part[1], part[3], part[4]);
                exit;
            exception when lock_not_available or deadlock_detected then
                if tried = 120 then
                    raise;
                end if;
                perform pg_sleep(0.5);
            end;
        end loop;
        commit;
    end loop;
end
$$;
