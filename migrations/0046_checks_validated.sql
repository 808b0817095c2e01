-- Validates the checks of 0045, and those that earlier migrations had left out: all rows are read, while the services go on.
--
-- A table that is validated is not vacuumed until the end of this transaction, so the one of live tasks comes last.

do $$
declare
    part record;
begin
    for part in
        select c.conrelid::regclass as of_table, c.conname from pg_constraint c
        where c.connamespace = 'public'::regnamespace and c.contype = 'c' and not c.convalidated and c.coninhcount = 0
        order by c.conrelid = 'public.task'::regclass, c.conrelid, c.conname
    loop
        execute format('alter table %s validate constraint %I', part.of_table, part.conname);
    end loop;
end
$$;
