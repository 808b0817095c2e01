-- Whoever submits reads of a schedule what a fire by request needs, and of keyed writes what it takes to answer them again. It writes
-- of these just what its statements write.
revoke select on schedule from berth_submit;
grant select (id, name, overlap, recent, template, tenant_id, version) on schedule to berth_submit;

revoke select, insert, update on idempotency from berth_submit;
grant select (answer, body_hash, key, route, status, task_id, tenant_id) on idempotency to berth_submit;
grant insert (body_hash, key, route, task_id, tenant_id) on idempotency to berth_submit;
grant update (answer, status, task_id) on idempotency to berth_submit;
