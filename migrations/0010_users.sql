-- Who may do what: the operators' keys, users and their sessions.

-- Keys of the platform's operators. They belong to no tenant, and only the operators' role sees them.
create table operator_key (
    -- The public part of the key.
    id text primary key check (id ~ '^[a-z2-7]{12}$'),
    name text not null unique check (length(name) between 1 and 200),
    -- HMAC-SHA256 of the whole key under the installation's secret. The key itself is stored nowhere.
    hash bytea not null check (length(hash) = 32),
    scopes text[] not null check (scopes <@ array['read', 'admin'] and cardinality(scopes) > 0),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);

grant select, insert on operator_key to berth_admin;
grant update (revoked_at, last_used_at) on operator_key to berth_admin;
