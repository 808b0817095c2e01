//! The release of children: the one place in the source that counts what the end of a parent decides.
//!
//! A statement that ends parents, or goes on with one that has many children, brings the edges that are decided, and [`release_children`]
//! counts them in the rows of the children, in the order of the keys, which is the lock order. Several parents of a child may end at once:
//! each statement counts from the row as it then stands. What a count leads to is [`domain::dependency::Waiting`]'s rule; a test compares.

/// Edges that one statement decides for one parent; the scheduler decides the others in pieces of the same size. The literal
/// 500 in `end_tasks` is the same number.
pub(super) const PIECE: i64 = 500;

/// A checked query that begins with `$text` (`with …`) and decides the edges of `$edges`, a `select` of the tenant, the parent, the child,
/// the condition and the state in which the parent ended. Children that need no more become ready, or are due later; those of which too few
/// edges are left wait for the scheduler, which skips them; those with a gate, too, which it opens. `$changes`, where it is given, are other changes of tasks' states, as [`change_tasks`] takes them.
macro_rules! release_children {
    (
        $text:literal $(+ $more_text:literal)*, edges: $edges:literal $(+ $more_edges:literal)*,
        $(changes: $changes:literal $(+ $more_changes:literal)*,)? answer: $answer:literal, $($argument:tt)*
    ) => {
        $crate::task::transition::change::change_tasks!(
            $text $(+ $more_text)*
            + ", decided as materialized (
                select e.tenant_id, e.child_id, count(*) filter (where e.is_item) as items,
                    count(*) filter (where not e.is_item) as parents, count(*) filter (where e.holds and not e.is_item) as held,
                    (array_agg(e.parent_id) filter (where not e.holds))[1] as broken
                from (
                    select d.tenant_id, d.parent_id, d.child_id, d.condition = 'item' as is_item, case d.condition
                        when 'succeeded' then d.ended = 'succeeded'
                        when 'failed' then d.ended in ('failed', 'aborted', 'killed', 'expired')
                        when 'expired' then d.ended = 'expired'
                        when 'skipped_ok' then d.ended in ('succeeded', 'skipped')
                        else true end as holds
                    from (" + $edges $(+ $more_edges)* + ") d(tenant_id, parent_id, child_id, condition, ended)) e
                group by e.tenant_id, e.child_id order by e.tenant_id, e.child_id
            ), child as (
                update task t set
                    needs = case when t.needs > d.held then t.needs - d.held end,
                    undecided = case when t.needs > d.held then t.undecided - d.parents end,
                    doomed_by = case when t.needs > d.held and t.undecided - d.parents < t.needs - d.held then coalesce(t.doomed_by, d.broken) end,
                    state = (case when t.needs > d.held or t.gate is not null or t.run_at > now() or t.release_delay_ms > 0
                        then 'scheduled' else 'ready' end)::task_state,
                    run_at = case when t.needs > d.held then t.run_at
                        else greatest(t.run_at, now() + t.release_delay_ms * interval '1 millisecond') end,
                    start_deadline = case when t.needs > d.held then t.start_deadline
                        else greatest(t.run_at, now() + t.release_delay_ms * interval '1 millisecond') + (t.start_deadline - t.run_at) end,
                    wake_at = case
                        when t.needs > d.held then case when t.undecided - d.parents < t.needs - d.held then now() end
                        when t.run_at > now() or t.release_delay_ms > 0
                            then greatest(t.run_at, now() + t.release_delay_ms * interval '1 millisecond')
                        when t.gate is not null then now()
                        when t.expire_if_late then now() + (t.start_deadline - t.run_at) end
                from decided d
                where t.tenant_id = any (array[d.tenant_id]) and t.id = d.child_id and t.needs > 0 and d.parents > 0
                    and t.gate is distinct from 'items'
                returning t.tenant_id, t.id, t.attempt, t.state
            ), collector as (
                -- One that has become its items waits for these; what its other parents do changes nothing any more.
                update task t set needs = case when t.needs > d.items then t.needs - d.items end,
                    undecided = case when t.needs > d.items then t.undecided - d.items end,
                    wake_at = case when t.needs <= d.items then now() end
                from decided d
                where t.tenant_id = any (array[d.tenant_id]) and t.id = d.child_id and t.needs > 0 and d.items > 0
                    and t.gate = 'items'
            )",
            changes: $($changes $(+ $more_changes)* + " union all " +)? "
                select tenant_id, id, attempt, state, null::text, null::integer, null::uuid from child where state = 'ready'",
            answer: $answer,
            $($argument)*
        )
    };
}
pub(super) use release_children;
