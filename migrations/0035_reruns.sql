-- A task that was made by running another one again points back to it.
--
-- Nothing for all other tasks, which cost nothing here. The task it points to may be gone with its day of the history: it is read, never joined.
alter table task_spec add column rerun_of uuid;
