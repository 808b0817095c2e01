-- What one executor of a pool may say it has, and which pools there are.

-- No executor may offer more in any dimension. Null: no bound.
alter table pool
    add column max_executor_cpu_millis integer check (max_executor_cpu_millis >= 0),
    add column max_executor_memory_mib integer check (max_executor_memory_mib >= 0),
    add column max_executor_disk_mib integer check (max_executor_disk_mib >= 0),
    add column max_executor_iops integer check (max_executor_iops >= 0),
    add column max_executor_ports integer check (max_executor_ports >= 0);
grant update (max_executor_cpu_millis, max_executor_memory_mib, max_executor_disk_mib, max_executor_iops, max_executor_ports)
    on pool to berth_admin;

-- An executor of a pool that nobody has made is refused from now on. Those that are connected keep theirs.
insert into pool (name)
    select distinct s.pool from executor_session s
    where s.ended_at is null and s.pool ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
    on conflict do nothing;
