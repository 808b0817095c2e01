-- Rate limits over several api processes: how many there are, and what was counted of the hour.

-- One row an api process, written every 5 s: without Redis each holds its share of the limits.
create table api_replica (
    id uuid primary key,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
);

-- What a tenant has submitted in a clock hour, as of a minute ago. Redis counts; this is for when it has forgotten.
create table rate_checkpoint (
    tenant_id uuid not null references tenant (id),
    hour timestamptz not null check (hour = date_trunc('hour', hour, 'UTC')),
    used bigint not null check (used >= 0),
    written_at timestamptz not null default now(),
    primary key (tenant_id, hour)
);

create index rate_checkpoint_by_hour on rate_checkpoint (hour);

alter table rate_checkpoint enable row level security;
alter table rate_checkpoint force row level security;

-- With the `coalesce` this is a check and no more; see 0005_access.sql.
create policy own on rate_checkpoint for select to berth_api using (coalesce(tenant_id = berth_current_tenant(), false));
create policy count on rate_checkpoint to berth_submit using (true) with check (true);

grant select on rate_checkpoint to berth_api;
grant select, insert, update, delete on rate_checkpoint to berth_submit;
grant select, insert, update, delete on api_replica to berth_submit;

do $$
begin
    execute format('create policy maintain on rate_checkpoint to %I using (true) with check (true)', current_user);
end
$$;
