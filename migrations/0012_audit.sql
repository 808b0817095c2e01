-- The audit: who changed what. Rows are added and never changed; a hash chain for each tenant, made a moment later, shows when
-- one was nonetheless.

create table audit (
    id uuid primary key,
    -- The nil id for what is no tenant's but the platform's own. No foreign key: it outlives what it tells of.
    tenant_id uuid not null,
    at timestamptz not null default clock_timestamp(),
    actor_kind text not null check (actor_kind in ('operator', 'key', 'user', 'nobody', 'system')),
    actor_id text,
    -- With what they came: the public part of a key, or a sign-in.
    key_id text,
    request_id text,
    action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
    target_kind text not null,
    target_id text,
    before jsonb,
    after jsonb,
    check (actor_id is not null or actor_kind in ('nobody', 'system'))
);

create index audit_by_tenant on audit (tenant_id, id);

-- What is still to be sealed. In the order of commits it would have holes that fill later; so a row gets its place in the chain
-- when it is sealed, and this says which have none.
create table audit_pending (
    audit_id uuid primary key references audit (id)
);

-- A row's place in its tenant's chain.
create table audit_seal (
    tenant_id uuid not null,
    position bigint not null check (position >= 1),
    -- No foreign key: when a row is gone, its seal is what tells.
    audit_id uuid not null unique,
    -- SHA-256 over the seal before and the row.
    hash bytea not null check (length(hash) = 32),
    sealed_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, position)
);

-- Where each chain ends. The platform's row is also the lock of whoever seals: one at a time.
create table audit_head (
    tenant_id uuid primary key,
    position bigint not null check (position >= 0),
    hash bytea not null check (length(hash) = 32)
);

insert into audit_head (tenant_id, position, hash)
    values ('00000000-0000-0000-0000-000000000000', 0, decode(repeat('00', 32), 'hex'));

-- As the owner, so that no service needs to write here, and no row can be left out.
create function berth_audit_pends() returns trigger
    language plpgsql security definer set search_path = pg_catalog, public
as $$
begin
    insert into public.audit_pending (audit_id) values (new.id);
    return null;
end
$$;
revoke execute on function berth_audit_pends() from public;
create trigger pends after insert on audit for each row execute function berth_audit_pends();

-- For everybody, the owner included.
create function berth_append_only() returns trigger
    language plpgsql set search_path = pg_catalog
as $$
begin
    raise exception 'rows of % are added and never changed', tg_table_name using errcode = '42501';
end
$$;
create trigger append_only before update or delete or truncate on audit
    for each statement execute function berth_append_only();
create trigger append_only before update or delete or truncate on audit_seal
    for each statement execute function berth_append_only();

do $$
declare
    t text;
begin
    foreach t in array array['audit', 'audit_seal', 'audit_head'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy administer on %I for select to berth_admin using (true)', t);
        execute format('create policy seal on %I for select to berth_scheduler using (true)', t);
    end loop;
    foreach t in array array['audit', 'audit_seal'] loop
        execute format('create policy own on %I for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))', t);
    end loop;
end
$$;

-- Who changes something writes it down; nobody for another.
create policy tell on audit for insert to berth_api with check (tenant_id = berth_current_tenant());
create policy tell_of_all on audit for insert to berth_submit, berth_admin with check (true);
create policy add on audit_seal for insert to berth_scheduler with check (true);
create policy begin on audit_head for insert to berth_scheduler with check (true);
create policy go_on on audit_head for update to berth_scheduler using (true) with check (true);

grant select, insert on audit to berth_api, berth_admin;
grant insert on audit to berth_submit;
grant select on audit_seal to berth_api, berth_admin;
grant select on audit_head to berth_admin;

grant select on audit to berth_scheduler;
grant select, delete on audit_pending to berth_scheduler;
grant select, insert on audit_seal to berth_scheduler;
grant select, insert, update on audit_head to berth_scheduler;
