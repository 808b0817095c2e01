-- Tenants and users count their changes, so that both can be stored under their name with `If-Match`, as plans and pools are: of two who
-- change one at once, neither undoes the other's change.
--
-- A trigger counts, whoever writes: processes of the release before change rows, too. What does not show in an answer (a password, when a
-- state began) does not count.

alter table tenant add column version bigint not null default 1;
alter table app_user add column version bigint not null default 1;

create function berth_count_version() returns trigger
    language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
begin
    new.version := old.version + 1;
    return new;
end
$$;
revoke execute on function berth_count_version() from public;

create trigger version before update on tenant for each row
    when ((old.name, old.plan, old.weight, old.state, old.purged_at) is distinct from (new.name, new.plan, new.weight, new.state, new.purged_at))
    execute function berth_count_version();

create trigger version before update on app_user for each row
    when ((old.email, old.role, old.state) is distinct from (new.email, new.role, new.state))
    execute function berth_count_version();
