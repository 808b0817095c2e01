-- What executors have is told to whoever submits a task that fits none of them.

grant select (pool, cpu_millis, memory_mib, disk_mib, iops, port_count, expires_at, ended_at) on executor_session to berth_submit;
