-- The scheduler's sessions make no bitmap scans, and no other reads the index by id (brin): without one, whether history still needs a
-- day would be found by walking all of it.
alter function berth_partition_drop(text, date) set enable_bitmapscan = on;
