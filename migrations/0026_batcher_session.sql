-- On which connection the batcher last renewed its term: where Postgres has it no more, the batcher has most likely died, and nobody need
-- wait for the end of the term.
alter table leadership add column backend integer, add column backend_start timestamptz;
