-- Keys that ended were kept for ever. The scheduler deletes them: revoked ones soon, because nothing shows them any more, and expired ones with
-- the history of their time.
create index api_key_by_revocation on api_key (revoked_at) where revoked_at is not null;
create index api_key_by_expiry on api_key (expires_at) where expires_at is not null;
create policy forget on api_key to berth_scheduler using (true) with check (true);
grant select (id, revoked_at, expires_at), delete on api_key to berth_scheduler;

-- A key is replaced once, whatever became of its successor: so it goes on naming one that is deleted.
alter table api_key drop constraint api_key_replaced_by_fkey;
drop index api_key_by_successor;
