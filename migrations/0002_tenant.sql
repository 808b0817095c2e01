-- Tenants, their API keys, and the pools their tasks run in.

create table tenant (
    id uuid primary key,
    name text not null unique check (length(name) between 1 and 200),
    -- Share of the service relative to other tenants.
    weight double precision not null default 1 check (weight > 0 and weight <= 1000),
    state text not null default 'active' check (state in ('active', 'suspended', 'deleted')),
    created_at timestamptz not null default now()
);

create table api_key (
    -- The public part of the key.
    id text primary key check (id ~ '^[a-z2-7]{12}$'),
    tenant_id uuid not null references tenant (id),
    name text not null check (length(name) between 1 and 200),
    -- HMAC-SHA256 of the whole key under the installation's secret. The key itself is stored nowhere.
    hash bytea not null check (length(hash) = 32),
    scopes text[] not null check (scopes <@ array['read', 'submit', 'admin'] and cardinality(scopes) > 0),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);

create index api_key_by_tenant on api_key (tenant_id);

create table pool (
    name text primary key check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    created_at timestamptz not null default now()
);

insert into pool (name) values ('default');

alter table tenant enable row level security;
alter table tenant force row level security;
alter table api_key enable row level security;
alter table api_key force row level security;

create policy own on tenant for select to berth_api using (id = berth_current_tenant());
create policy own on api_key for select to berth_api using (tenant_id = berth_current_tenant());
create policy authenticate on tenant for select to berth_submit using (true);
create policy authenticate on api_key to berth_submit using (true) with check (true);
create policy weigh on tenant for select to berth_scheduler using (true);
create policy administer on tenant to berth_admin using (true) with check (true);
create policy administer on api_key to berth_admin using (true) with check (true);

grant select on tenant, api_key to berth_api;
grant select on tenant, api_key to berth_submit;
grant update (last_used_at) on api_key to berth_submit;
grant select on tenant to berth_scheduler;
grant select, insert, update on tenant, api_key to berth_admin;
grant select on pool to berth_api, berth_submit, berth_scheduler, berth_rm;
grant select, insert on pool to berth_admin;
