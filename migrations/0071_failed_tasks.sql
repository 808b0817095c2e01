-- no-transaction
--
-- A tenant's failed tasks, newest first, however many of its others ended between them: lists of failures and the overview ask for them.
--
-- One partition at a time: the writers of the day wait while it is read. Whatever ends this in the middle, the next run goes on.

do $$
declare
    child regclass;
    made text;
    failed constant text := $c$(tenant_id, id) where state in ('failed', 'aborted', 'killed', 'expired')$c$;
begin
    perform set_config('client_min_messages', 'warning', true);
    execute 'create index if not exists task_history_of_failed on only public.task_history ' || failed;
    commit;
    for child in select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'public.task_history'::regclass order by 1 desc loop
        if exists (select from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid
            where i.inhparent = 'public.task_history_of_failed'::regclass and x.indrelid = child) then
            continue;
        end if;
        select format('%s_failed_idx', c.relname) into made from pg_class c where c.oid = child;
        execute format('create index if not exists %I on %s %s', made, child, failed);
        execute format('alter index public.task_history_of_failed attach partition public.%I', made);
        commit;
    end loop;
end
$$;
