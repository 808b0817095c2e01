-- no-transaction
--
-- Validates the checks of 0045, and those that earlier migrations had left out: all rows are read, while the services go on.
--
-- One commit for each table, that of live tasks at the end: until it a table that is read is not vacuumed. Whatever ends this in the
-- middle, the next run goes on with what is left.

do $$
declare
    tables constant text[] := (
        select coalesce(array_agg(array[t.name, t.clauses] order by t.name = 'task', t.name), '{}') from (
            select c.conrelid::regclass::text as name, string_agg(format('validate constraint %I', c.conname), ', ' order by c.conname)
                as clauses
            from pg_constraint c
            where c.connamespace = 'public'::regnamespace and c.contype = 'c' and not c.convalidated and c.coninhcount = 0
            group by c.conrelid) t);
    part text[];
begin
    foreach part slice 1 in array tables loop
        execute format('alter table %s %s', part[1], part[2]);
        commit;
    end loop;
end
$$;
