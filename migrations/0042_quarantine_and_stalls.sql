-- Executors that give back what they are given, and pools in which nothing is placed: for the doctor.

-- Since when its resource manager gives it nothing but probes.
alter table executor_session add column quarantined_at timestamptz;

-- When that resource manager last placed a task of the pool; of one that never has, when it started.
alter table pool_load add column last_placed_at timestamptz;
