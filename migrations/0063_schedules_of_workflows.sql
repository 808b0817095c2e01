-- no-transaction
--
-- Schedules that start workflow runs.
--
-- A fire starts the run of a definition in the transaction that writes its row, which names the run; the run names the schedule and the due
-- time. Each table is locked for a moment only, alone, and not waited for for long. Whatever ends this in the middle, the next run does all
-- of it again.

do $$
declare
    additions constant text[] := array[
        array['schedule', $c$add column if not exists workflow text, add column if not exists recent_runs uuid[] not null default '{}'$c$],
        array['schedule', 'drop constraint if exists recent_runs_are_few'],
        array['schedule', 'add constraint recent_runs_are_few check (cardinality(recent_runs) <= 100) not valid'],
        array['schedule_span', 'add column if not exists workflow text'],
        array['schedule_fire', 'add column if not exists run_id uuid'],
        -- The earlier rows are among these: nothing that is there has to be read for it.
        array['schedule_fire', 'drop constraint if exists schedule_fire_outcome_check'],
        array['schedule_fire', $c$add constraint schedule_fire_outcome_check
            check (outcome in ('fired', 'late', 'skipped_overlap', 'collapsed_misfire', 'skipped_misfire', 'paused', 'suspended', 'shed_quota',
                               'pool_unavailable', 'workflow_unavailable')) not valid$c$],
        array['schedule_fire', 'drop constraint if exists fired_means_a_task'],
        array['schedule_fire', 'drop constraint if exists fired_means_a_task_or_a_run'],
        array['schedule_fire', $c$add constraint fired_means_a_task_or_a_run
            check ((outcome in ('fired', 'late')) = (num_nonnulls(task_id, run_id) = 1) and num_nonnulls(task_id, run_id) <= 1) not valid$c$],
        -- `counted_by`: the schedule that has yet to count how it ended.
        array['workflow_run', $c$add column if not exists schedule_id uuid, add column if not exists schedule_name text,
            add column if not exists due_at timestamptz, add column if not exists counted_by uuid$c$]
    ];
    indexes constant text[] := array[
        -- Which schedules a definition may not be deleted under.
        'create index if not exists schedule_by_workflow on public.schedule (tenant_id, workflow, name) where workflow is not null',
        'create index if not exists workflow_run_counted on public.workflow_run (finished_at)
            where counted_by is not null and finished_at is not null'
    ];
    part text[];
    statement text;
begin
    foreach part slice 1 in array additions loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute format('alter table public.%I %s', part[1], part[2]);
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
    -- Nothing is in them.
    foreach statement in array indexes loop
        for tried in 1..120 loop
            begin
                perform set_config('lock_timeout', '500ms', true);
                perform set_config('client_min_messages', 'warning', true);
                execute statement;
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

    drop policy if exists fire on public.workflow;
    create policy fire on public.workflow for select to berth_scheduler using (true);
    grant select (tenant_id, name, version, plan) on public.workflow to berth_scheduler;
    grant insert on public.workflow_run to berth_scheduler;
    grant insert (tenant_id, key, running) on public.concurrency_limit to berth_scheduler;
    grant select (recent_runs), update (recent_runs) on public.schedule to berth_submit;
end
$$;
