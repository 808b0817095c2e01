-- What a task runs may be changed before it runs, by its owner: its spec counts its changes, so that two who change it at once do not undo
-- each other's.
--
-- The statements that store tasks do not name the column, so that a submit costs what it did.
alter table task_spec add column version bigint not null default 1;

grant update (version, run_at, run, labels, delay_tolerance_ms, priority) on task_spec to berth_api;
