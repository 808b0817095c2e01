-- The overview of a tenant shows which of its quotas are nearly used, as the leader last counted them. Its policy is there already.
grant select on tenant_quota_level to berth_api;
