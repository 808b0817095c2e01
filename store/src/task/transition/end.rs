//! The end of a task: the one place in the source that writes its history row and the rows of ended attempts.
//!
//! A statement that ends tasks brings its own first part, which deletes their rows from `task` by compare-and-set, and
//! [`end_tasks`] adds what happens at every end. A new column of `task_history` or `attempt`, or one more thing that happens at an end,
//! is written here and nowhere else; a test refuses a second place.

/// A checked query that ends the tasks of `gone`. `gone` is a part of `$delete`, which begins the statement (`with …`) and takes the tasks
/// out of `task`; it has every column of `task`. `$answer` is what the statement selects at last.
///
/// - `of waiting`: the tasks hold no lease. They end as `$state` for `$reason`, both in SQL.
/// - `of leased`: `gone` also has `ends` (the state, as text), `reason` and `exit_code`; `$failures` and `$started` are the failures and the
///   first start at the end. All leases of the part `$leases` end, whether their tasks end or go on: it has the columns of `task` and of
///   `lease_end`, and an attempt is written for each. Where the executor's part ended before (`called`), it is written as it was then.
///
/// `$results`, where it is given, is the column of `gone` with what a task returned, as JSON text or null, which is stored.
///
/// `$moved`, where it is given, is a part that moves tasks that do not end; it has their `tenant_id`, `id`, `attempt` and new `state`.
/// Children of the tasks that end are released by [`release_children`]; a parent with more than 500 of them is left to the scheduler.
macro_rules! end_tasks {
    (
        of waiting: $delete:literal, state: $state:literal, reason: $reason:literal, $(results: $results:literal,)?
        $(moved: $moved:literal,)? answer: $answer:literal, $($argument:tt)*
    ) => {
        end_tasks!(
            $delete, ($state, "failures", "first_started_at", $reason, "null", "0"), (), ($($results)?), ($($moved)?), $answer,
            $($argument)*
        )
    };
    (
        of leased: $delete:literal, failures: $failures:literal, started: $started:literal, leases: $leases:literal,
        $(results: $results:literal,)? $(moved: $moved:literal,)? answer: $answer:literal, $($argument:tt)*
    ) => {
        end_tasks!(
            $delete,
            ("ends::task_state", $failures, $started, "reason", "coalesce((called).exit_code, exit_code)",
                "public.berth_reserved_now(g.reservation, g.placed_at, g.attempt,
                    public.berth_used_ms(g.charged, coalesce((g.called).ran_ms, g.ran_ms), g.cap_ms, g.placed_at))"),
            ($leases), ($($results)?), ($($moved)?), $answer,
            $($argument)*
        )
    };
    (
        $delete:literal, ($state:literal, $failures:literal, $started:literal, $reason:literal, $exit_code:literal, $cost:literal),
        ($($leases:literal)?), ($($results:literal)?), ($($moved:literal)?), $answer:literal, $($argument:tt)*
    ) => {
        $crate::task::transition::release::release_children!(
            $delete
            + ", history as (
                insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    run_at, start_deadline, cap_ms, attempt, max_attempts, expire_if_late, at_most_once, unique_key,
                    finished_at, failures, first_started_at, reason, exit_code)
                select tenant_id, id, pool, " + $state + ", tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    run_at, start_deadline, cap_ms, attempt, max_attempts, expire_if_late, at_most_once, unique_key,
                    greatest(now(), placed_at), " + $failures + ", " + $started + ", " + $reason + ", " + $exit_code + "
                from gone
            )"
            $(+ ", ended_attempt as (
                insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib,
                    disk_mib, iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code, signal, reason,
                    stdout_bytes, stderr_bytes, tolerance_ms, flexible, cost, task_cost, fire_cost, price_book)
                select tenant_id, id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                    coalesce((called).session, session_id), placed_at, greatest(now(), placed_at), used.ms,
                    coalesce((called).exit_code, exit_code), signal, reason, coalesce((called).stdout, stdout),
                    coalesce((called).stderr, stderr), (extract(epoch from start_deadline - run_at) * 1000)::bigint, flexible,
                    case when reservation is not null then public.berth_reserved_cost(reservation, placed_at, used.ms) end,
                    case when reservation is not null then public.berth_reserved_task_cost(reservation, placed_at, attempt) end,
                    case when (reservation #> '{prices,-1}') ? 'fire' then public.berth_reserved_fire_cost(reservation, placed_at, attempt) end,
                    reservation ->> 'book'
                from " + $leases + "
                -- Not for longer than it lasted, and than it was allowed to run: what stopping it takes is not billed.
                cross join lateral (select case when charged then greatest(0, least(coalesce((called).ran_ms, ran_ms), cap_ms,
                    (extract(epoch from now() - placed_at) * 1000)::bigint)) else 0 end as ms) used
            )")?
            $(+ ", result as (
                insert into task_result (tenant_id, task_id, attempt, value, bytes, finished_at)
                select tenant_id, id, attempt, " + $results + ", octet_length(" + $results + "), greatest(now(), placed_at)
                from gone where " + $results + " is not null
            )")?
            // Edges that were stored while this statement waited for their parent are not seen by it, but counted in the parent's row.
            + ", parent as (
                select tenant_id, id, children, (" + $state + ")::task_state as ended from gone where children > 0
            ), edge as (
                delete from task_edge e using parent p
                where p.children <= 500 and e.tenant_id = any (array[p.tenant_id]) and e.parent_id = p.id
                returning e.tenant_id, e.parent_id, e.child_id, e.condition, p.ended
            ), release as (
                insert into task_release (tenant_id, parent_id, state)
                -- Counted without a join: the planner expects one row, and would compare each parent with each.
                select c.tenant_id, c.parent_id, c.ended from (
                    select tenant_id, id, ended, children from parent
                    union all select tenant_id, parent_id, ended, -1 from edge
                ) c(tenant_id, parent_id, ended, undecided)
                group by c.tenant_id, c.parent_id, c.ended having sum(c.undecided) > 0
            ), tally as (
                insert into workflow_tally (tenant_id, run_id, ended, failed)
                select g.tenant_id, g.run_id, count(*), count(*) filter (where g.ended not in ('succeeded', 'skipped'))
                from (select tenant_id, run_id, (" + $state + ")::task_state as ended from gone where run_id is not null) g
                group by g.tenant_id, g.run_id
            )"
            // What the task cost is spent of its caps, and the rest of its reservation is free again: on one share of each, the same for all
            // that this connection ends, locked in their order.
            + ", settled as materialized (
                select cap.id::uuid as cap_id, sum((g.reservation ->> 'amount')::bigint)::bigint as amount,
                    sum(coalesce(g.spent, 0) + " + $cost + ")::bigint as cost
                from gone g
                cross join lateral jsonb_array_elements_text(g.reservation -> 'caps') cap(id)
                where g.reservation is not null
                group by cap.id
            ), share as materialized (
                select s.cap_id, s.share, d.amount, d.cost, date_trunc(p.period, now(), p.zone) as period_start
                from settled d
                join spend_cap p on p.id = d.cap_id
                join spend_share s on s.cap_id = d.cap_id and s.share = pg_backend_pid() % 8
                order by s.cap_id for no key update of s
            ), spend as (
                update spend_share s set period_start = greatest(s.period_start, i.period_start),
                    spent = i.cost + case when s.period_start < i.period_start then 0 else s.spent end,
                    free = s.free + i.amount - i.cost + case when s.period_start < i.period_start then s.spent else 0 end
                from share i where s.cap_id = i.cap_id and s.share = i.share
            )"
            // Whatever else happens at an end is one more part here, which reads `gone`.
            ,
            edges: "select tenant_id, parent_id, child_id, condition, ended from edge",
            changes: "select tenant_id, id, attempt, (" + $state + ")::task_state, " + $reason + ",
                    (" + $exit_code + ")::integer, counted_by
                from gone"
                $(+ " union all
                select tenant_id, id, attempt, state, null, null, null from " + $moved)?,
            answer: $answer,
            $($argument)*
        )
    };
}
pub(super) use end_tasks;
