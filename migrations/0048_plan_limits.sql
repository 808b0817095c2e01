-- The limits of a plan are one column: a new limit is a field of the JSON, and no column, check and statement each.
--
-- Expanded here; a later release, whose releases before all read `limits`, contracts: it drops the trigger and the columns of single
-- limits. Until then a trigger keeps both equal, for processes of the release before, which go on until each is replaced: they write and
-- read the columns. Processes of this release write and read `limits` alone. Limits that have no column, of releases after this one, stay
-- as they are.
--
-- The ranges stay those of the columns' checks, which the trigger carries to `limits`.

-- Plans count their changes, so that two operators who change one at once do not undo each other's change. What processes of the release
-- before change counts, too.

alter table plan add column limits jsonb, add column version bigint not null default 1;

create function berth_plan_limits() returns trigger
    language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
declare
    others constant text[] := array['name', 'version', 'limits', 'created_at', 'updated_at'];
begin
    -- Written by this release: the columns follow. Otherwise `limits` follows the columns.
    if new.limits is not null and (tg_op = 'INSERT' or new.limits is distinct from old.limits) then
        new := jsonb_populate_record(new, new.limits - others);
    end if;
    new.limits := coalesce(new.limits, '{}') || (to_jsonb(new) - others);
    if tg_op = 'UPDATE' and old.limits is not null and new.version = old.version and new.limits is distinct from old.limits then
        new.version := old.version + 1;
    end if;
    return new;
end
$$;
revoke execute on function berth_plan_limits() from public;

create trigger limits before insert or update on plan for each row execute function berth_plan_limits();

-- Fills the column, and moves nothing else.
update plan set limits = '{}';

alter table plan alter column limits set not null,
    add constraint limits_are_an_object check (jsonb_typeof(limits) = 'object');
