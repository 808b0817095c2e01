-- no-transaction
--
-- Workflows, their runs, and what nodes wait for besides their parents.
--
-- A node of a run is a task with its run in its row. One that waits for more than its parents has a gate, and stays `scheduled` until the
-- schedulers or a signal open it. The statement that ends a task of a run adds a row to `workflow_tally`, which never waits for another
-- statement; the schedulers count these rows into the run.
--
-- Each table is locked for a moment only, alone, and not waited for for long, because everything else queues behind. Whatever ends this in
-- the middle, the next run does all of it again. 0060 validates the checks while the services go on.

do $$
declare
    additions constant text[] := array[
        array['task', 'add column if not exists run_id uuid, add column if not exists gate text, add column if not exists signal_key text'],
        array['task', 'drop constraint if exists gate_is_whole'],
        -- `closed`: to be opened when its parents have released it. `items`: it has become tasks, and waits for them. `waiting`: for a signal
        -- with `signal_key`, or for a person.
        array['task', $c$add constraint gate_is_whole check (
            (gate is null or (gate in ('closed', 'items', 'waiting') and state = 'scheduled' and run_id is not null))
            and (signal_key is null or gate = 'waiting')) not valid$c$],
        array['task_spec', 'add column if not exists run_id uuid, add column if not exists node text, add column if not exists gate text'],
        -- `item`: from an item of `for_each` to the task that waits for its items. Any end of the item will do.
        array['task_edge', 'drop constraint if exists condition_is_known'],
        array['task_edge', $c$add constraint condition_is_known
            check (condition in ('succeeded', 'failed', 'expired', 'finished', 'skipped_ok', 'item')) not valid$c$],
        array['api_key', 'drop constraint if exists api_key_scopes_check'],
        array['api_key', 'drop constraint if exists scopes_are_known'],
        array['api_key', $c$add constraint scopes_are_known
            check (scopes <@ array['read', 'submit', 'approve', 'admin'] and cardinality(scopes) > 0) not valid$c$],
        -- A node that waited returns a value without an attempt.
        array['task_result', 'drop constraint if exists task_result_attempt_check'],
        array['task_result', 'drop constraint if exists attempt_is_counted'],
        array['task_result', 'add constraint attempt_is_counted check (attempt >= 0) not valid']
    ];
    indexes constant text[] := array[
        'create index if not exists task_by_gate on public.task (wake_at)
            where gate is not null and needs is null and wake_at is not null',
        'create index if not exists task_by_run on public.task (tenant_id, run_id, id) where run_id is not null',
        'create index if not exists task_by_signal on public.task (tenant_id, signal_key) where signal_key is not null'
    ];
    part text[];
    t text;
    statement text;
begin
    perform set_config('client_min_messages', 'warning', true);
    -- A definition under its name.
    create table if not exists public.workflow (
        tenant_id uuid not null,
        name text not null,
        version bigint not null check (version >= 1),
        -- As it was sent, and as `domain::workflow::Plan`; both JSON.
        definition text not null,
        plan text not null,
        nodes bigint not null check (nodes >= 1),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        updated_by text not null,
        primary key (tenant_id, name)
    );

    -- A run. It has its own copy of the plan, so that a definition can change meanwhile.
    create table if not exists public.workflow_run (
        tenant_id uuid not null,
        id uuid not null,
        -- Of which definition; null where it came with the run.
        workflow text,
        version bigint,
        state text not null,
        plan text not null,
        input text,
        -- The task of each node, in the order of the plan.
        tasks uuid[] not null,
        -- Tasks of the run, with the items of `for_each`; how many have ended; how many of them neither succeeded nor were skipped.
        total bigint not null,
        ended bigint not null default 0,
        failed bigint not null default 0,
        -- The most tasks that it may come to have.
        most bigint not null,
        labels jsonb,
        created_at timestamptz not null default now(),
        deadline_at timestamptz,
        -- Its tasks are to be cancelled, and why.
        stopped_at timestamptz,
        stop_reason text,
        finished_at timestamptz,
        reason text,
        rerun_of uuid,
        -- Its oldest task may be that old: of nodes that a re-run took over.
        tasks_since timestamptz not null,
        started_by text not null,
        primary key (tenant_id, id),
        constraint state_is_known check (state in ('running', 'cancelling', 'succeeded', 'failed', 'cancelled', 'expired')),
        constraint end_is_whole check ((finished_at is null) = (state in ('running', 'cancelling'))),
        constraint stop_is_whole check ((stopped_at is null) = (stop_reason is null) and (state <> 'cancelling' or stopped_at is not null)),
        constraint tasks_are_counted check (ended >= 0 and failed >= 0 and failed <= ended and ended <= total and most >= total)
    );
    create index if not exists workflow_run_unfinished on public.workflow_run (tenant_id, id) where finished_at is null;
    create index if not exists workflow_run_by_deadline on public.workflow_run (deadline_at)
        where finished_at is null and stopped_at is null and deadline_at is not null;
    create index if not exists workflow_run_stopped on public.workflow_run (stopped_at) where finished_at is null and stopped_at is not null;
    create index if not exists workflow_run_by_end on public.workflow_run (finished_at) where finished_at is not null;

    -- The tasks that a node with `for_each` became.
    create table if not exists public.workflow_items (
        tenant_id uuid not null,
        run_id uuid not null,
        -- Of the node.
        task_id uuid not null,
        tasks uuid[] not null,
        primary key (tenant_id, task_id)
    );

    create index if not exists workflow_items_by_run on public.workflow_items (tenant_id, run_id);

    -- Ends of tasks that are not counted in their runs yet.
    create table if not exists public.workflow_tally (
        seq bigint generated always as identity primary key,
        tenant_id uuid not null,
        run_id uuid not null,
        ended bigint not null check (ended >= 1),
        failed bigint not null check (failed between 0 and ended)
    );

    -- Signals that were sent, until they expire.
    create table if not exists public.workflow_signal (
        tenant_id uuid not null,
        key text not null,
        payload text not null,
        sent_at timestamptz not null default now(),
        sent_by text not null,
        expires_at timestamptz not null,
        primary key (tenant_id, key),
        constraint payload_is_bounded check (octet_length(payload) <= 65536)
    );
    create index if not exists workflow_signal_by_expiry on public.workflow_signal (expires_at);
    commit;

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
    -- Nothing is in them, so each costs one read of the live tasks.
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

    -- What a task has to do with others: `submission_links` with its run. The services of the release before use the other one.
    begin
        create type public.task_links as (
            rerun_of uuid, needs bigint, undecided bigint, release_delay_ms bigint, doomed_by uuid, children bigint, depends_on text,
            run_id uuid, node text, gate text
        );
    exception when duplicate_object then
        null;
    end;

    foreach t in array array['workflow', 'workflow_run', 'workflow_items', 'workflow_tally', 'workflow_signal'] loop
        execute format('alter table public.%I enable row level security', t);
        execute format('alter table public.%I force row level security', t);
        execute format('drop policy if exists maintain on public.%I', t);
        execute format('create policy maintain on public.%I to %I using (true) with check (true)', t, current_user);
    end loop;
    if not 'workflow' = any (public.berth_tenant_tables()) then
        execute format(
            'create or replace function public.berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
            array['workflow', 'workflow_items', 'workflow_run', 'workflow_signal', 'workflow_tally'] || public.berth_tenant_tables());
    end if;

    foreach t in array array['workflow', 'workflow_run', 'workflow_items', 'workflow_signal'] loop
        execute format('drop policy if exists own on public.%I', t);
        execute format('create policy own on public.%I to berth_api using (coalesce(tenant_id = public.berth_current_tenant(), false))
            with check (tenant_id = public.berth_current_tenant())', t);
    end loop;
    drop policy if exists own on public.workflow_tally;
    create policy own on public.workflow_tally for insert to berth_api
        with check (coalesce(tenant_id = public.berth_current_tenant(), false));
    drop policy if exists settle on public.workflow_tally;
    create policy settle on public.workflow_tally for insert to berth_rm with check (true);
    foreach t in array array['workflow_run', 'workflow_items', 'workflow_tally', 'workflow_signal', 'concurrency_limit'] loop
        execute format('drop policy if exists schedule_runs on public.%I', t);
        execute format('create policy schedule_runs on public.%I to berth_scheduler using (true) with check (true)', t);
    end loop;
    drop policy if exists start on public.workflow_run;
    create policy start on public.workflow_run to berth_submit using (true) with check (true);
    drop policy if exists start on public.concurrency_limit;
    create policy start on public.concurrency_limit for insert to berth_submit with check (true);
    drop policy if exists return_own on public.task_result;
    create policy return_own on public.task_result for insert to berth_api
        with check (coalesce(tenant_id = public.berth_current_tenant(), false));
    drop policy if exists schedule on public.task_result;
    create policy schedule on public.task_result to berth_scheduler using (true) with check (true);

    drop policy if exists open_gates on public.task_spec;
    create policy open_gates on public.task_spec for select to berth_scheduler using (true);
    drop policy if exists fill on public.task_spec;
    create policy fill on public.task_spec for update to berth_scheduler using (true) with check (true);

    grant select, insert, update, delete on public.workflow to berth_api;
    grant select on public.workflow_run to berth_api, berth_submit;
    grant update (state, stopped_at, stop_reason) on public.workflow_run to berth_api;
    grant insert on public.workflow_run to berth_submit;
    grant select, update, delete on public.workflow_run to berth_scheduler;
    grant select on public.workflow_items to berth_api;
    grant select, insert, delete on public.workflow_items to berth_scheduler;
    grant insert on public.workflow_tally to berth_api, berth_rm;
    -- To lock them: `for update` asks for it.
    grant select, insert, update, delete on public.workflow_tally to berth_scheduler;
    grant select, insert, update on public.workflow_signal to berth_api;
    grant select, update, delete on public.workflow_signal to berth_scheduler;
    grant insert (tenant_id, key, running) on public.concurrency_limit to berth_submit;
    grant delete on public.concurrency_limit to berth_scheduler;
    grant insert on public.task_result to berth_api;
    grant select, insert on public.task_result to berth_scheduler;
    grant select on public.task_spec to berth_scheduler;
    grant update (run) on public.task_spec to berth_scheduler;
end
$$;
