-- no-transaction
--
-- Tasks that wait for others.
--
-- A task that waits for its parents is `scheduled` and has two counters: how many edges must still hold, and how many are undecided. The
-- statement that ends a parent counts in the rows of its children, and releases those that need no more: a parent is never searched.
--
-- Each table is locked for a moment only, alone, and not waited for for long, because everything else queues behind. Whatever ends this in
-- the middle, the next run does all of it again. 0058 validates the check while the services go on.

do $$
declare
    additions constant text[] := array[
        array['task', 'add column if not exists needs bigint, add column if not exists undecided bigint,
            add column if not exists release_delay_ms bigint, add column if not exists doomed_by uuid, add column if not exists children bigint'],
        array['task', 'drop constraint if exists waiting_is_whole'],
        -- `needs` and `undecided`: of a task that waits for parents. `release_delay_ms`: its delay counts from its release. `doomed_by`: the
        -- parent whose end left too few. `children`: edges that name it as parent, at least so many as there are.
        array['task', $c$add constraint waiting_is_whole check (
            case when needs is null then num_nonnulls(undecided, doomed_by) = 0
                else needs > 0 and undecided >= 0 and release_delay_ms >= 0 and state = 'scheduled'
                    and (undecided < needs) = (doomed_by is not null) end
            and (children is null or children > 0)) not valid$c$],
        -- JSON: the edges and how many must hold, as `domain::dependency::Dependencies`.
        array['task_spec', 'add column if not exists depends_on text']
    ];
    part text[];
    t text;
begin
    perform set_config('client_min_messages', 'warning', true);
    -- The edges of parents that have not ended: the statement that ends one removes its edges.
    create table if not exists public.task_edge (
        tenant_id uuid not null,
        parent_id uuid not null,
        child_id uuid not null,
        -- Its place in what the child depends on: two of them may come to name one parent.
        place smallint not null,
        -- How the parent must end.
        condition text not null,
        primary key (tenant_id, parent_id, child_id, place),
        constraint condition_is_known check (condition in ('succeeded', 'failed', 'finished', 'skipped_ok'))
    );

    -- Parents that ended while edges of theirs were left: more than one statement counts, or stored in that moment. Schedulers go on with them,
    -- a piece at a time.
    create table if not exists public.task_release (
        tenant_id uuid not null,
        parent_id uuid not null,
        -- How it ended.
        state public.task_state not null,
        ended_at timestamptz not null default now(),
        primary key (tenant_id, parent_id)
    );
    create index if not exists task_release_by_age on public.task_release (ended_at);
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

    -- What a task has to do with others: beside `submission` for tasks that have.
    begin
        create type public.submission_links as (
            rerun_of uuid, needs bigint, undecided bigint, release_delay_ms bigint, doomed_by uuid, children bigint, depends_on text
        );
    exception when duplicate_object then
        null;
    end;
    begin
        create type public.new_edge as (tenant_id uuid, parent_id uuid, child_id uuid, place smallint, condition text);
    exception when duplicate_object then
        null;
    end;

    foreach t in array array['task_edge', 'task_release'] loop
        execute format('alter table public.%I enable row level security', t);
        execute format('alter table public.%I force row level security', t);
        execute format('drop policy if exists maintain on public.%I', t);
        execute format('create policy maintain on public.%I to %I using (true) with check (true)', t, current_user);
    end loop;
    if not 'task_edge' = any (public.berth_tenant_tables()) then
        execute format(
            'create or replace function public.berth_tenant_tables() returns text[] language sql immutable as $f$ select %L::text[] $f$',
            array['task_edge', 'task_release'] || public.berth_tenant_tables());
    end if;

    drop policy if exists own on public.task_edge;
    create policy own on public.task_edge to berth_api using (coalesce(tenant_id = public.berth_current_tenant(), false))
        with check (tenant_id = public.berth_current_tenant());
    drop policy if exists submit on public.task_edge;
    create policy submit on public.task_edge for insert to berth_submit with check (true);
    drop policy if exists place on public.task_edge;
    create policy place on public.task_edge to berth_rm using (true) with check (true);
    drop policy if exists schedule on public.task_edge;
    create policy schedule on public.task_edge to berth_scheduler using (true) with check (true);
    drop policy if exists own on public.task_release;
    create policy own on public.task_release for insert to berth_api with check (coalesce(tenant_id = public.berth_current_tenant(), false));
    drop policy if exists place on public.task_release;
    create policy place on public.task_release for insert to berth_rm with check (true);
    drop policy if exists schedule on public.task_release;
    create policy schedule on public.task_release to berth_scheduler using (true) with check (true);
    drop policy if exists parents on public.task_history;
    create policy parents on public.task_history for select to berth_submit using (true);

    grant select, delete on public.task_edge to berth_api, berth_rm;
    grant select, insert, delete on public.task_edge to berth_scheduler;
    grant insert on public.task_edge to berth_submit;
    grant insert on public.task_release to berth_api, berth_rm;
    grant select, insert, update, delete on public.task_release to berth_scheduler;
    grant update (children) on public.task to berth_submit;
    grant select (tenant_id, id, state) on public.task_history to berth_submit;
end
$$;
