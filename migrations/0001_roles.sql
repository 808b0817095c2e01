-- The database roles. One a kind of work, so that each may do just its statements.
--
-- None owns a table, is superuser or bypasses row-level security. Roles belong to the whole cluster, so
-- several databases of one cluster share them; `berth migrate` sets their password and lets them log in.
do $$
declare
    wanted text;
begin
    foreach wanted in array array['berth_api', 'berth_submit', 'berth_scheduler', 'berth_rm', 'berth_admin'] loop
        begin
            execute format('create role %I nologin nosuperuser nocreatedb nocreaterole noinherit nobypassrls', wanted);
        exception when duplicate_object or unique_violation then
            null;
        end;
    end loop;
end
$$;

-- Before Postgres 15 everybody may make tables here.
revoke create on schema public from public;
grant usage on schema public to berth_api, berth_submit, berth_scheduler, berth_rm, berth_admin;

-- The tenant of the present transaction, set with set_config('berth.tenant_id', ..., true); null when unset, and
-- then no policy lets a row through.
create function berth_current_tenant() returns uuid
    language sql stable parallel safe
    return nullif(current_setting('berth.tenant_id', true), '')::uuid;
