-- no-transaction
--
-- Calls whose task runs on after their answer, until it is completed.
--
-- Such a task keeps its lease, without its executor: in place of the executor's session it has the one that is nobody's (all zeros), and
-- `called` says by whom and how it was called. `wake_at` is the end of its cap, as the indexes of leases need it. 0062 validates the check.

do $$
declare
    additions constant text[] := array[
        'add column if not exists called public.task_call',
        'drop constraint if exists called_is_whole',
        $c$add constraint called_is_whole check (
            ((called).session is not null) = (session_id is not distinct from '00000000-0000-0000-0000-000000000000'::uuid)) not valid$c$
    ];
    addition text;
begin
    begin
        create type public.task_call as (session uuid, ran_ms bigint, exit_code integer, stdout bigint, stderr bigint);
    exception when duplicate_object then
        null;
    end;
    commit;

    foreach addition in array additions loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute 'alter table public.task ' || addition;
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

    -- Who completes an attempt, or ends it at its cap, writes it.
    drop policy if exists complete on public.attempt;
    create policy complete on public.attempt for insert to berth_scheduler with check (true);
    grant insert on public.attempt to berth_api, berth_scheduler;
end
$$;
