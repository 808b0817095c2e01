-- Validates the check of 0061: all rows are read, while the services go on.
alter table task validate constraint called_is_whole;
