-- Validates the checks of 0063: all rows are read, while the services go on.
alter table schedule validate constraint recent_runs_are_few;
alter table schedule_fire validate constraint schedule_fire_outcome_check;
alter table schedule_fire validate constraint fired_means_a_task_or_a_run;
