-- What canaries saw: the figures of the public status. Cumulative within an hour for each start of each canary, so that a report may be
-- repeated. Of the platform, and of no tenant.
create table canary_hour (
    hour timestamptz not null check (hour = date_trunc('hour', hour at time zone 'UTC') at time zone 'UTC'),
    -- The canary's name, and which start of it.
    canary text collate "C" not null check (canary ~ '^[a-z0-9-]{1,63}$'),
    start uuid not null,
    submits bigint not null check (submits >= 0),
    accepted bigint not null check (accepted between 0 and submits),
    due bigint not null check (due >= 0),
    reached bigint not null check (reached between 0 and due),
    on_time bigint not null check (on_time between 0 and due),
    -- How many were late by how much; the bounds are domain::canary::BOUNDS_MS.
    lateness bigint[] not null check (cardinality(lateness) = 15),
    -- Since when its rounds have faults; null: the last one had none.
    failing_since timestamptz,
    updated_at timestamptz not null default now(),
    primary key (hour, canary, start)
);

grant select, insert, update, delete on canary_hour to berth_admin;

alter table operator_key drop constraint operator_key_scopes_check;
alter table operator_key add constraint operator_key_scopes_check
    check (scopes <@ array['read', 'admin', 'report'] and cardinality(scopes) > 0);
