-- Tasks without room are parked by size, no longer one by one, and each attempt is charged once.

alter table task drop column parked_until;
-- The tenant's account was charged for the next placement: a dispatch that came to nothing is not charged again.
alter table task add column prepaid boolean not null default false;

-- Sizes that found no room at this resource manager and still fit none of its executors: arrays of cpu, memory, disk,
-- iops and ports. What asks for as much in every dimension fits nowhere either.
alter table pool_load add column lacks jsonb not null default '[]';
