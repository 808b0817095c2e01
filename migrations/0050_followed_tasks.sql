-- no-transaction
--
-- The schedule that counts how a task ends, in the task's own row: the statement that ends it writes an event for that schedule, and for
-- no other task. Null costs nothing.
--
-- The table is locked for a moment only, and not waited for for long, because everything else queues behind. Whatever ends this in the
-- middle, the next run does all of it again.

do $$
begin
    for tried in 1..120 loop
        begin
            perform set_config('lock_timeout', '500ms', true);
            perform set_config('client_min_messages', 'warning', true);
            alter table public.task add column if not exists counted_by uuid;
            exit;
        exception when lock_not_available or deadlock_detected then
            if tried = 120 then
                raise;
            end if;
            perform pg_sleep(0.5);
        end;
    end loop;
    commit;
end
$$;
