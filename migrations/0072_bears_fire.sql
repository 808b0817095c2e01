-- Which task bears what a fire of a schedule costs: the task of the fire, or the task of its workflow run that the run names. Whatever
-- reads attempts for money asks it. A plain expression, so that the planner puts it in place of the call.
create function berth_bears_fire(task uuid, schedule uuid, rerun_of uuid, run uuid, fire_task uuid) returns boolean
    language sql immutable parallel safe
    return coalesce(schedule is not null and rerun_of is null and (run is null or fire_task = task), false);
