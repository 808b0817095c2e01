-- Reads the first ready tasks of a pool, from which the batcher chooses. Run by select_ready.rs.
--
-- Ready tasks lie in the index task_by_turn, ordered by pool, state, tenant, strand, start deadline and id. A strand is
-- a group of tasks of one tenant that start under the same conditions. So a strand is one range of the index, and the
-- first rows of the range are its most urgent tasks.
--
-- Steps:
--   1. scan: goes through the tenants in order, from one strand to the next, past the rows between them.
--   2. requested: does the same inside the tenants that the caller names, one strand of each in turn.
--   3. For each strand of both: its first late tasks and its first tasks on time.
-- So the cost follows the strands and rows that are read, and not the number of tasks or tenants that wait.
--
-- Three rules keep it so:
--   - Entries of tasks that were dispatched a moment ago still stand in the index before those that wait, and each
--     costs a visit of its row. Only the search for a strand meets them: it keeps the place of the row that it found,
--     and step 3 starts there.
--   - Each "order by" names the state, though it is the same in all rows. Under row-level security the planner does not
--     know that (the comparison of an enum is not leakproof), and would sort.
--   - Each part that reads tasks has its own limit, so that nothing is read that is not shown.
--
-- Parameters:
--   $1        pool
--   $2        scan: tenants after this one
--   $3        scan: strands of each tenant, at most
--   $4        scan: strands in all, at most
--   $5 $6 $7  requested: ranges of strands, each (tenant, after this strand, up to this one)
--   $8        requested: strands in all, at most
--   $9        rows to read in all, about
--   $10       rows of each strand, at most, late and on time each
--   $11 $12   tenants of which fewer rows are wanted, and how many of each strand
--   $13-$17   the largest task that any executor could hold: cpu, memory, disk, IOPS, ports
--   $18-$22   sizes for which no executor has room now, one array for each dimension
--   $23       tasks of a concurrency key that may run at once where its tenant has set no limit
--   $24 $25   whether all drivers count as there; if not, those that executors have
--   $26       the driver of each of the sizes without room; null: whatever the driver
--
-- Columns: one row for each task. A strand of which no task is shown has one row without a task. Where nothing is ready
-- there is one row with the time alone.
with recursive scan as (
    (
        select t.tenant_id, t.strand, t.start_deadline, t.ctid as place, 1 as strand_number
        from task t
        where t.pool = $1 and t.state = 'ready' and t.tenant_id > $2
        order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id
        limit 1
    )
    union all
    select n.tenant_id, n.strand, n.start_deadline, n.place,
        case when n.tenant_id = s.tenant_id then s.strand_number + 1 else 1 end
    from scan s
    cross join lateral (
        select t.tenant_id, t.strand, t.start_deadline, t.ctid as place
        from task t
        where t.pool = $1 and t.state = 'ready'
            -- After the last strand that is wanted of a tenant comes the next tenant.
            and (t.tenant_id, t.strand)
                > (s.tenant_id, case when s.strand_number < $3 then s.strand else 9223372036854775807 end)
        order by t.state, t.tenant_id, t.strand, t.start_deadline, t.id
        limit 1
    ) n
), requested as (
    select r.tenant_id, n.strand, n.start_deadline, n.place, r.until_strand
    from unnest($5::uuid[], $6::bigint[], $7::bigint[]) as r(tenant_id, after_strand, until_strand)
    cross join lateral (
        select t.strand, t.start_deadline, t.ctid as place
        from task t
        where t.pool = $1 and t.state = 'ready' and t.tenant_id = r.tenant_id
            and t.strand > r.after_strand and t.strand <= r.until_strand
        order by t.state, t.strand, t.start_deadline, t.id
        limit 1
    ) n
    union all
    select r.tenant_id, n.strand, n.start_deadline, n.place, r.until_strand
    from requested r
    cross join lateral (
        select t.strand, t.start_deadline, t.ctid as place
        from task t
        where t.pool = $1 and t.state = 'ready' and t.tenant_id = r.tenant_id
            and t.strand > r.strand and t.strand <= r.until_strand
        order by t.state, t.strand, t.start_deadline, t.id
        limit 1
    ) n
), scanned_strand as materialized (
    select s.tenant_id, s.strand, s.start_deadline, s.place from scan s limit $4
), requested_strand as materialized (
    select r.tenant_id, r.strand, r.start_deadline, r.place from requested r limit $8
), strand as materialized (
    select b.tenant_id, b.strand, min(b.start_deadline) as first_deadline, min(b.place) as place,
        bool_or(b.scanned) as scanned, bool_or(not b.scanned) as requested,
        count(*) over (partition by b.tenant_id) as strands_of_tenant
    from (
        select s.tenant_id, s.strand, s.start_deadline, s.place, true as scanned from scanned_strand s
        union all
        select r.tenant_id, r.strand, r.start_deadline, r.place, false from requested_strand r
    ) b
    group by b.tenant_id, b.strand
)
select
    now() as "now!",
    s.tenant_id as "tenant_id?",
    s.strand as "strand?",
    s.scanned as "scanned?",
    s.requested as "requested?",
    head.concurrency_key as "strand_key?",
    key_limit.running as "strand_key_limit?",
    head.has_room as "has_room?",
    head.driver as "strand_driver?",
    share.row_limit as "row_limit!",
    ready.id as "id?",
    ready.late as "late?",
    ready.run_at as "run_at?",
    ready.start_deadline as "start_deadline?",
    ready.cpu_millis as "cpu_millis?",
    ready.memory_mib as "memory_mib?",
    ready.disk_mib as "disk_mib?",
    ready.iops as "iops?",
    ready.ports as "ports?",
    ready.slots as "slots?",
    ready.cap_ms as "cap_ms?",
    ready.prepaid as "prepaid?",
    ready.name_key as "name_key?",
    ready.priority as "priority?",
    ready.flexible as "flexible?",
    ready.concurrency_key as "concurrency_key?"
from (select) one
left join strand s on true
left join unnest($11::uuid[], $12::bigint[]) as tenant_limit(tenant_id, row_limit)
    on tenant_limit.tenant_id = s.tenant_id
-- The first task of the strand, read at the place where the search found it. All tasks of a strand have its size and
-- driver, but where two strands have one hash.
left join lateral (
    select t.concurrency_key, t.expire_if_late, t.driver,
        (t.driver is null or $24::boolean or t.driver = any ($25::text[]))
            and t.cpu_millis <= $13 and t.memory_mib <= $14 and t.disk_mib <= $15 and t.iops <= $16 and t.ports <= $17
            and (
                cardinality($18::integer[]) = 0
                or not exists (
                    select
                    from unnest($18::integer[], $19::integer[], $20::integer[], $21::integer[], $22::integer[], $26::text[])
                        as lacking(cpu_millis, memory_mib, disk_mib, iops, ports, driver)
                    where t.cpu_millis >= lacking.cpu_millis and t.memory_mib >= lacking.memory_mib
                        and t.disk_mib >= lacking.disk_mib and t.iops >= lacking.iops and t.ports >= lacking.ports
                        and (lacking.driver is null or t.driver = lacking.driver)
                )
            ) as has_room
    from task t
    where t.ctid = s.place
) head on true
left join lateral (
    select l.running
    from concurrency_limit l
    where l.tenant_id = s.tenant_id and l.key = head.concurrency_key
    limit 1
) key_limit on true
-- Rows to read of this strand. Tenants have equal parts of all rows, and strands equal parts of their tenant's, 4 at
-- least. Of a concurrency key one more is read than may ever run: that shows that some are held back.
cross join lateral (
    select least(
        greatest($9 / nullif((select count(distinct d.tenant_id) from strand d), 0) / s.strands_of_tenant, 4),
        $10,
        tenant_limit.row_limit,
        case
            when head.concurrency_key is not null
                then coalesce(key_limit.running, $23) + 1
        end
    ) as row_limit
) share
left join lateral (
    (
        -- Late tasks. One that expires when it is late is left out, as it ends within a second. Up to 1000 of those are
        -- read past in search of others.
        select true as late, l.*
        from (
            select t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports, t.slots,
                t.cap_ms, t.prepaid, t.name_key, t.priority, t.flexible, t.concurrency_key, t.expire_if_late,
                t.first_started_at
            from task t
            where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
                and t.start_deadline >= s.first_deadline and t.start_deadline < now() and s.first_deadline < now()
            order by t.state, t.start_deadline, t.id
            limit case when head.expire_if_late then 1000 else share.row_limit end
        ) l
        where not (l.expire_if_late and l.first_started_at is null)
        limit share.row_limit
    )
    union all
    (
        select false as late, t.id, t.run_at, t.start_deadline, t.cpu_millis, t.memory_mib, t.disk_mib, t.iops, t.ports,
            t.slots, t.cap_ms, t.prepaid, t.name_key, t.priority, t.flexible, t.concurrency_key, t.expire_if_late,
            t.first_started_at
        from task t
        where t.pool = $1 and t.state = 'ready' and t.tenant_id = s.tenant_id and t.strand = s.strand
            and t.start_deadline >= greatest(s.first_deadline, now())
        order by t.state, t.start_deadline, t.id
        limit share.row_limit
    )
) ready on head.has_room
