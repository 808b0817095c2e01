//! Changes of tasks' states: the one place in the source that writes them to the event log.
//!
//! A statement that moves tasks brings its own first part, and [`change_tasks`] adds the events. It writes those of tenants with a
//! consumer, and the ends that a schedule counts; all others cost one index probe per row. A test refuses a second place.
//!
//! From ready to queued and back there is no event: a task waits in both, and `explain` says for what. It would be a third of all events.

/// A checked query that begins with `$text` (`with …`) and writes an event for each row of `$changes`, a `select` of the tenant, the id,
/// the attempt, the state that the task is in from now on, the reason, the exit code and, for the end of a task, its column `counted_by`
/// (else null). `$answer` is what the statement selects at last.
macro_rules! change_tasks {
    (
        $text:literal $(+ $more_text:literal)*, changes: $changes:literal $(+ $more_changes:literal)*,
        answer: $answer:literal, $($argument:tt)*
    ) => {
        sqlx::query!(
            $text $(+ $more_text)*
            // As an array, or the planner may read all consumers at once, which it takes to be few.
            + ", event as (
                insert into task_event (tenant_id, kind, task_id, attempt, state, reason, exit_code, schedule_id)
                select c.tenant_id, 'task_changed', c.id, c.attempt, c.state, c.reason, c.exit_code, c.counted_by
                from (" + $changes $(+ $more_changes)* + ") c(tenant_id, id, attempt, state, reason, exit_code, counted_by)
                where c.counted_by is not null or exists (
                    select from event_consumer f where f.tenant_id = any (array[c.tenant_id]) and f.expires_at > now())
            ) " + $answer,
            $($argument)*
        )
    };
}
pub(super) use change_tasks;
