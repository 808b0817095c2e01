//! No number runs out: what counts without a bound is 64 bits wide, and works beyond 32.

use crate::support::{World, claim, ended};
use domain::epoch::Epoch;
use domain::id::NodeId;
use domain::task::{Event, State};
use std::collections::BTreeSet;
use std::time::Duration;
use store::task::transition::{self, SessionEpoch};

const BEYOND: i64 = (1 << 31) + 5;

/// What may be narrower, because something else bounds it: sizes and figures of a plan, which are checked; what one task or one
/// attempt can have; codes; what the operating system bounds (a process id); and what goes up once a second at
/// most for one row.
const BOUNDED: [&str; 52] = [
    "attempt",
    "backend",
    "backlog",
    "before",
    "bytes",
    "cpu_millis",
    "disk_mib",
    "dispatch_epoch",
    "exit_code",
    "failures",
    "failures_in_row",
    "free_cpu_millis",
    "free_disk_mib",
    "free_iops",
    "free_memory_mib",
    "free_ports",
    "iops",
    "largest_cpu_millis",
    "largest_disk_mib",
    "largest_iops",
    "largest_memory_mib",
    "largest_ports",
    "max_attempts",
    "max_executor_cpu_millis",
    "max_executor_disk_mib",
    "max_executor_iops",
    "max_executor_memory_mib",
    "max_executor_ports",
    "memory_mib",
    "pause_after_failures",
    "payload_bytes",
    "place",
    "port_count",
    "port_first",
    "ports",
    "priority",
    "retention_days",
    "running",
    "running_tasks",
    "schedules",
    "seq",
    "sequence",
    "shard",
    "share",
    "signal",
    "slots",
    "status",
    "stream",
    "submit_burst",
    "submits_per_hour",
    "submits_per_second",
    "token_version",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_counts_without_a_bound_is_wide_enough() {
    let world = World::new().await;
    let narrow = "select coalesce(string_agg(distinct a.attname, ' '), '')
        from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
            and a.atttypid in ('int2'::regtype, 'int4'::regtype)";
    let narrow = world.text(narrow).await.unwrap_or_default();
    let unknown: BTreeSet<&str> =
        narrow.split_whitespace().filter(|name| !BOUNDED.contains(name)).collect();
    assert!(unknown.is_empty(), "32 bits and no known bound: {unknown:?}");
    let sequences = "select count(*) from pg_sequences where schemaname = 'public' and data_type <> 'bigint'::regtype";
    assert_eq!(world.number(sequences).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_lives_and_ends_under_numbers_beyond_32_bits() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    world.sql(format!(
        "do $$ declare s regclass; begin
            for s in select (schemaname || '.' || sequencename)::regclass from pg_sequences where schemaname = 'public' loop
                perform setval(s, {BEYOND});
            end loop; end $$;
        update leadership set epoch = {BEYOND}"
    )).await;
    let (leader, mut owned) =
        (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    world.sql(format!("update executor_session set owner_epoch = {BEYOND}")).await;
    owned.epoch = Epoch(BEYOND);
    let first = u64::try_from(BEYOND).unwrap();
    for (number, event) in
        (first..).zip([Event::Completed, Event::HandedBack, Event::AttemptsExhausted])
    {
        let ready = world.store_ready(tenant, 1).await;
        let marked = world.dispatch(leader, &ready).await;
        let claims: Vec<_> = marked.iter().map(|m| claim(owned, *m, number)).collect();
        let sessions = [SessionEpoch { session: owned.session, epoch: owned.epoch }];
        let grace = Duration::from_secs(40);
        let placed =
            transition::placed(&world.rm, owned.node, &sessions, &claims, grace).await.unwrap();
        assert_eq!(placed.iter().map(|placed| placed.assignment).collect::<Vec<_>>(), [number]);
        let told = [ended(placed[0].lease, event)];
        let (answers, state) = match event {
            Event::Completed => (transition::completed(&world.rm, &told).await, State::Succeeded),
            Event::HandedBack => (transition::handed_back(&world.rm, &told).await, State::Ready),
            _ => (transition::attempts_exhausted(&world.rm, &told).await, State::Failed),
        };
        assert!(matches!(answers.unwrap()[..], [transition::TransitionResult::Applied(_)]));
        assert_eq!(world.state(placed[0].lease.task).await, Some(state));
    }
}
