-- Names that people take for each other are one name: compared by a key that the services make (domain, `TenantName::key`). What was
-- stored before gets its key from `berth migrate`, after this; where two of those clash, the older has the key and the other one that
-- nobody can ask for.

alter table tenant add column name_key text collate "C";

-- A tenant that was purged has no name, and nothing that is like it either.
create unique index tenant_by_name_key on tenant (name_key) where name is not null;

grant insert (name_key) on tenant to berth_submit;
