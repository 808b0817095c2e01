-- What was kept for ever, or deleted in one go.

-- Warnings that a tenant was told go after a while.
create index tenant_event_by_age on tenant_event (at);
create policy forget on tenant_event to berth_scheduler using (true) with check (true);
grant select, delete on tenant_event to berth_scheduler;

-- A key whose successor is purged before it has none any more: the two may go in different steps.
create index api_key_by_successor on api_key (replaced_by) where replaced_by is not null;
alter table api_key
    drop constraint api_key_replaced_by_fkey,
    add constraint api_key_replaced_by_fkey foreign key (replaced_by) references api_key (id) on delete set null;
-- Looked through when a user is purged.
create index api_key_by_user on api_key (tenant_id, user_id) where user_id is not null;

-- That a tenant was purged is told in its audit, and nothing else is by who purges it.
create policy tell_of_a_purge on audit for insert to berth_scheduler
    with check (actor_kind = 'system' and action = 'tenant.purge');
grant insert on audit to berth_scheduler;

-- Deletes up to `most` rows of one part of a deleted tenant's data; answers how many. The services may delete no history, so
-- this runs as the owner, and only for a tenant whose grace is over and of which no task lives any more.
create or replace function berth_tenant_purge(part text, whose uuid, grace interval, most integer) returns bigint
    language plpgsql security definer set search_path = pg_catalog, public, pg_temp set enable_seqscan = off
as $$
declare
    reached uuid;
    last uuid;
    one text;
    done bigint;
begin
    select t.purged_to into reached from tenant t
        where t.id = whose and t.state = 'deleted' and t.purged_at is null and t.deleted_at <= now() - grace
        for update;
    if not found or exists (select from task t where t.tenant_id = whose) then
        return 0;
    end if;
    -- A key's first column is matched as `any (array[...])`, so that rows are looked up one by one: see store/src/task/transition.
    case part
    when 'task_output' then
        delete from task_output o using (
            select d.tenant_id, d.task_id, d.attempt, d.stream, d.seq, d.stored_at
            from task_output d where d.tenant_id = whose limit most) d
            where o.tenant_id = any (array[d.tenant_id]) and o.task_id = d.task_id and o.attempt = d.attempt and o.stream = d.stream
                and o.seq = d.seq and o.stored_at = d.stored_at;
    when 'attempt' then
        delete from attempt a using (
            select d.tenant_id, d.task_id, d.attempt, d.ended_at from attempt d where d.tenant_id = whose limit most) d
            where a.tenant_id = any (array[d.tenant_id]) and a.task_id = d.task_id and a.attempt = d.attempt and a.ended_at = d.ended_at;
    when 'task_history' then
        -- Together with its spec, which nothing else finds by its tenant.
        with picked as materialized (
            select d.tenant_id, d.id, d.finished_at from task_history d where d.tenant_id = whose limit most
        ), specs as (
            delete from task_spec s using picked p where s.id = p.id and s.tenant_id = whose
        )
        delete from task_history h using picked p where h.tenant_id = any (array[p.tenant_id]) and h.id = p.id and h.finished_at = p.finished_at;
    when 'task_spec' then
        -- Specs whose history was dropped before: only in days before the oldest history, a day more for clocks. Looked for
        -- page by page; the row of the tenant knows how far.
        select berth_first_id_of(to_date(right(min(c.relname), 8), 'YYYYMMDD') + 1) into last
            from pg_inherits i join pg_class c on c.oid = i.inhrelid
            where i.inhparent = 'public.task_history'::regclass and c.relname ~ '_[0-9]{8}$';
        select p.id into reached from (
            select s.id from task_spec s
                where s.id > coalesce(reached, '00000000-0000-0000-0000-000000000000') and s.id < last
                order by s.id limit most) p
            order by p.id desc limit 1;
        if reached is null then
            return 0;
        end if;
        delete from task_spec s using tenant t
            where t.id = whose and s.tenant_id = whose and s.id <= reached
                and s.id > coalesce(t.purged_to, '00000000-0000-0000-0000-000000000000');
        update tenant set purged_to = reached where id = whose;
        return 1;
    when 'idempotency' then
        delete from idempotency k using (
            select d.tenant_id, d.route, d.key from idempotency d where d.tenant_id = whose limit most) d
            where k.tenant_id = any (array[d.tenant_id]) and k.route = d.route and k.key = d.key;
    when 'others' then
        -- One table after the other, those that name another before it.
        foreach one in array array['refresh_token', 'sign_in', 'api_key', 'app_user', 'rate_checkpoint', 'tenant_quota_level',
            'tenant_event', 'output_use', 'output_refused'] loop
            execute format('delete from %I where ctid = any (array(select d.ctid from %1$I d where d.tenant_id = $1 limit $2))', one)
                using whose, most;
            get diagnostics done = row_count;
            exit when done > 0;
        end loop;
        return done;
    when 'tenant' then
        update tenant set name = null, plan = 'default', weight = null, purged_at = now(), purged_to = null where id = whose;
    else
        raise exception 'no part of a tenant is called %', part;
    end case;
    get diagnostics done = row_count;
    return done;
end
$$;
