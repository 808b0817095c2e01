-- Validates the check of 0055: all rows are read, while the services go on.
alter table task validate constraint waiting_is_whole;
