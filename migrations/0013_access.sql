-- Operators' keys are replaced, a refresh whose answer was lost is made up for, users change their passwords, customers sign up.

alter table operator_key
    -- The key that takes its place; until it expires both are good. It is made after this says so: two cannot have one name.
    add column replaced_by text references operator_key (id) deferrable initially deferred,
    drop constraint operator_key_name_key;

-- A name is one operator's: it may come back when its key was revoked, and goes over to the key that replaces one.
create unique index operator_key_by_name on operator_key (name) where revoked_at is null and replaced_by is null;

grant update (expires_at, replaced_by) on operator_key to berth_admin;

-- In whose place a refresh token was made: its answer may have been lost, and then another is made in its place.
alter table refresh_token add column follows bytea check (length(follows) = 32);

-- Who changes a password goes on with the sign-in that asks.
grant update (token_version) on sign_in to berth_api;

-- A customer who signs up: a tenant that may run, and its first user.
create policy sign_up on tenant for insert to berth_submit with check (state = 'active');
grant insert (id, name, plan) on tenant to berth_submit;
grant insert (id, tenant_id, email, role, state, password_hash) on app_user to berth_submit;
