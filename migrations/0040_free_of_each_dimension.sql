-- What executors have free is told in each dimension, so that whoever waits learns of what there is too little.

alter table pool_load
    -- Per dimension the most that any of its executors has free now; of ports, in one block. Null: told by an earlier release.
    add column free_cpu_millis integer,
    add column free_memory_mib integer,
    add column free_disk_mib integer,
    add column free_iops integer,
    add column free_ports integer;
