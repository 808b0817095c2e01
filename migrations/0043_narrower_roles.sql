-- The services' roles see less, and the owner, as whom backups are made, sees all.

-- Whoever stores tasks reads none of their specs again: these may hold what only their tenant is to know. Nor does who submits read how
-- tasks ended.
revoke select on task_spec from berth_submit, berth_scheduler;
revoke select on task_history from berth_submit;
drop policy submit on task_history;
drop policy submit on task_spec;
create policy submit on task_spec for insert to berth_submit with check (true);
drop policy schedule on task_spec;
create policy schedule on task_spec for insert to berth_scheduler with check (true);

-- Each day's partition has a policy for its owner: without one, a backup that the owner makes has no row of it. `berth migrate` makes
-- those of the tables that are there.
do $$
declare
    made text := pg_get_functiondef('berth_partition_make'::regproc);
    changed text;
begin
    changed := replace(made, $s$        execute format('alter table public.%I force row level security', child);$s$,
        $s$        execute format('alter table public.%I force row level security', child);
        execute format('create policy maintain on public.%I to %I using (true) with check (true)', child, current_user);$s$);
    if changed = made then raise exception 'berth_partition_make is not as it was'; end if;
    execute changed;
end
$$;
