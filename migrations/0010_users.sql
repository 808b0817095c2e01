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

-- A tenant's people.
create table app_user (
    id uuid primary key,
    tenant_id uuid not null references tenant (id),
    email text not null check (email = lower(email) and email ~ '^[^@[:space:]]+@[^@[:space:]]+$' and length(email) <= 254),
    role text not null check (role in ('owner', 'admin', 'developer', 'billing', 'viewer')),
    -- `invited`: has set no password yet.
    state text not null check (state in ('invited', 'active', 'removed')),
    -- Argon2id, in the PHC string format.
    password_hash text,
    -- Sessions that began under an older version are over.
    token_version integer not null default 1,
    -- SHA-256 of the one-time token with which a password is set.
    invite_hash bytea unique check (length(invite_hash) = 32),
    invite_expires_at timestamptz,
    created_at timestamptz not null default now(),
    unique (tenant_id, id),
    check ((state = 'active') = (password_hash is not null)),
    check (state <> 'removed' or invite_hash is null)
);

-- An address may come back after its user was removed.
create unique index app_user_by_email on app_user (tenant_id, email) where state <> 'removed';

-- A user who is signed in somewhere.
create table sign_in (
    id uuid primary key,
    tenant_id uuid not null,
    user_id uuid not null,
    -- The user's version when it began.
    token_version integer not null,
    created_at timestamptz not null default now(),
    refreshed_at timestamptz not null default now(),
    expires_at timestamptz not null,
    ended_at timestamptz,
    foreign key (tenant_id, user_id) references app_user (tenant_id, id),
    unique (tenant_id, id)
);

create index sign_in_by_user on sign_in (tenant_id, user_id);
create index sign_in_by_end on sign_in (expires_at);

-- Every refresh token that a sign-in ever had: one that is used a second time was stolen, from its user or by its user.
create table refresh_token (
    -- SHA-256 of a random token. The token itself is stored nowhere.
    hash bytea primary key check (length(hash) = 32),
    tenant_id uuid not null,
    sign_in_id uuid not null,
    created_at timestamptz not null default now(),
    used_at timestamptz,
    foreign key (tenant_id, sign_in_id) references sign_in (tenant_id, id) on delete cascade
);

create index refresh_token_by_sign_in on refresh_token (tenant_id, sign_in_id);
create index refresh_token_by_use on refresh_token (used_at) where used_at is not null;

-- Tries to sign in, by account and by peer: what counts them must hold across all api processes.
create table sign_in_attempt (
    -- Keyed hash of what is counted; accounts that do not exist are counted, too.
    subject bytea primary key check (length(subject) = 32),
    -- When, oldest first; never more than the limit.
    times timestamptz[] not null,
    updated_at timestamptz not null default now()
);

create index sign_in_attempt_by_age on sign_in_attempt (updated_at);

alter table api_key
    -- Who made it, where a user did.
    add column user_id uuid,
    -- The key that takes its place; until it expires both are good.
    add column replaced_by text references api_key (id),
    add foreign key (tenant_id, user_id) references app_user (tenant_id, id);

do $$
declare
    t text;
begin
    foreach t in array array['app_user', 'sign_in', 'refresh_token'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy authenticate on %I to berth_submit using (true) with check (true)', t);
        -- The owner of the tables purges deleted tenants: see berth_tenant_purge.
        execute format('create policy maintain on %I to %I using (true) with check (true)', t, current_user);
    end loop;
    foreach t in array array['app_user', 'sign_in'] loop
        execute format('create policy own on %I to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
            with check (tenant_id = berth_current_tenant())', t);
    end loop;
end
$$;

-- A tenant's own keys.
create policy make on api_key for insert to berth_api with check (tenant_id = berth_current_tenant());
create policy change on api_key for update to berth_api using (coalesce(tenant_id = berth_current_tenant(), false))
    with check (tenant_id = berth_current_tenant());
grant insert (id, tenant_id, name, hash, scopes, expires_at, user_id) on api_key to berth_api;
grant update (expires_at, revoked_at, replaced_by) on api_key to berth_api;

grant select, insert on app_user to berth_api;
grant update (role, state, password_hash, token_version, invite_hash, invite_expires_at) on app_user to berth_api;
grant select on sign_in to berth_api;
grant update (ended_at) on sign_in to berth_api;

-- Before the tenant is known.
grant select on app_user to berth_submit;
grant update (state, password_hash, token_version, invite_hash, invite_expires_at) on app_user to berth_submit;
grant select, insert, delete on sign_in to berth_submit;
grant update (refreshed_at, expires_at, ended_at) on sign_in to berth_submit;
grant select, insert, delete on refresh_token to berth_submit;
grant update (used_at) on refresh_token to berth_submit;
grant select, insert, update, delete on sign_in_attempt to berth_submit;
