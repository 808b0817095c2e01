-- Tasks without room are parked by size, no longer one by one; each attempt is charged once; ended sessions are deleted.

alter table task drop column parked_until;
-- The tenant's account was charged for the next placement: a dispatch that came to nothing is not charged again.
alter table task add column prepaid boolean not null default false;

-- Sizes that found no room at this resource manager and still fit none of its executors: arrays of cpu, memory, disk,
-- iops and ports. What asks for as much in every dimension fits nowhere either.
alter table pool_load add column lacks jsonb not null default '[]';

grant delete on executor_session to berth_scheduler;
create index executor_session_ended on executor_session (ended_at) where ended_at is not null;
