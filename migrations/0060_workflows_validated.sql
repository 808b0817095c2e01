-- Validates the checks of 0059: all rows are read, while the services go on.
alter table task validate constraint gate_is_whole;
alter table task_edge validate constraint condition_is_known;
alter table api_key validate constraint scopes_are_known;
alter table task_result validate constraint attempt_is_counted;
