//! Attempts, their output and what they cost, as their tenant reads them.

use crate::support::{World, ended, new_session, new_task};
use chrono::{NaiveDate, NaiveTime};
use domain::id::NodeId;
use domain::plan::PlanLimits;
use domain::resources::{Resources, Tier};
use domain::task::{AttemptOutcome, Event, LeaseKey};
use std::time::Duration;
use store::TenantScope;
use store::audit::By;
use store::cost::{CostQuery, CostRow, Group, Step};
use store::output::{NewChunk, OutputFilter, OutputPosition, Stream, insert, read};
use store::task::submit::NewTask;
use store::task::transition::{self, EndedAttempt, FailedAttempt, LapsedLease};
use store::tenant::TenantChange;

fn chunk(lease: LeaseKey, stream: Stream, seq: u32, data: &str) -> NewChunk {
    NewChunk { lease, stream, seq, offset: u64::from(seq) * 10, data: data.as_bytes().to_vec() }
}

#[tokio::test]
async fn output_is_stored_once_under_its_live_lease_and_read_in_order() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 2).await;
    let lease = leases[0];
    use Stream::{Stderr, Stdout};
    let wrong = LeaseKey { attempt: 2, ..lease };
    let gone = LeaseKey { session: domain::id::SessionId::fresh(), ..lease };
    let chunks = [
        chunk(lease, Stdout, 1, "b"),
        chunk(lease, Stdout, 0, "a"),
        chunk(lease, Stdout, 0, "a"),
        chunk(lease, Stderr, 0, "\0\u{7f}"),
        chunk(wrong, Stdout, 2, "x"),
        chunk(gone, Stdout, 2, "x"),
        chunk(leases[1], Stdout, 0, "other"),
    ];
    assert_eq!(insert(&world.rm, &chunks).await.unwrap(), 4);
    assert_eq!(insert(&world.rm, &chunks).await.unwrap(), 0, "sent again after a lost answer");
    assert_eq!(insert(&world.rm, &[]).await.unwrap(), 0);
    let scope = TenantScope::of_role(tenant);
    let texts = async |filter: OutputFilter, limit| {
        let found = read(&world.api, &scope, lease.task, filter, limit).await.unwrap();
        found
            .chunks
            .into_iter()
            .map(|c| (c.stream, c.seq, String::from_utf8(c.data).unwrap()))
            .collect::<Vec<_>>()
    };
    let all = [
        (Stdout, 0, "a".to_owned()),
        (Stderr, 0, "\0\u{7f}".to_owned()),
        (Stdout, 1, "b".to_owned()),
    ];
    assert_eq!(texts(OutputFilter::default(), 100).await, all);
    assert_eq!(texts(OutputFilter::default(), 1).await, all[..1]);
    let from = OutputPosition { attempt: 1, stdout: 1, ..OutputPosition::default() };
    assert_eq!(texts(OutputFilter { from, ..OutputFilter::default() }, 100).await, all[1..]);
    assert_eq!(
        texts(OutputFilter { stream: Some(Stderr), ..OutputFilter::default() }, 100).await,
        all[1..2]
    );
    assert!(
        texts(OutputFilter { attempt: Some(2), ..OutputFilter::default() }, 100).await.is_empty()
    );
    // A chunk that two owners stored on two days is read once.
    world.sql("insert into task_output select tenant_id, task_id, attempt, stream, seq, \"offset\", data, stored_at - interval '1 day' from task_output").await;
    assert_eq!(texts(OutputFilter::default(), 100).await, all);
    transition::completed(&world.rm, &[ended(lease, Event::Completed)]).await.unwrap();
    assert_eq!(insert(&world.rm, &[chunk(lease, Stdout, 2, "late")]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_page_of_output_ends_with_its_chunks_or_its_bytes_and_says_whether_there_is_more() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    // Twelve of the largest, of which eight make half a MiB; then very many without anything in them.
    let large = "x".repeat(65_536);
    let mut chunks: Vec<_> = (0..12).map(|seq| chunk(lease, Stream::Stdout, seq, &large)).collect();
    chunks.extend((12..1012).map(|seq| chunk(lease, Stream::Stdout, seq, "")));
    assert_eq!(insert(&world.rm, &chunks).await.unwrap(), 1012);
    let scope = TenantScope::of_role(tenant);
    let page = async |after: Option<u32>, limit| {
        let stdout = after.map_or(0, |seq| seq + 1);
        let from = OutputPosition { attempt: 1, stdout, ..OutputPosition::default() };
        let filter = OutputFilter { from, ..OutputFilter::default() };
        let page = read(&world.api, &scope, lease.task, filter, limit).await.unwrap();
        (page.chunks.first().map(|c| c.seq), page.chunks.len(), page.more)
    };
    assert_eq!(page(None, 500).await, (Some(0), 8, true), "by its bytes");
    assert_eq!(page(None, 3).await, (Some(0), 3, true), "by its chunks");
    assert_eq!(page(Some(7), 500).await, (Some(8), 500, true));
    assert_eq!(page(Some(507), 504).await, (Some(508), 504, true), "nobody has looked further");
    assert_eq!(page(Some(507), 505).await, (Some(508), 504, false));
    assert_eq!(page(Some(1011), 500).await, (None, 0, false));
}

#[tokio::test]
async fn reading_begins_at_a_time_or_with_the_last_lines_over_as_many_chunks_as_it_takes() {
    use Stream::{Stderr, Stdout};
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let lease = world.run(leader, owned, tenant, 1).await[0];
    let scope = TenantScope::of_role(tenant);
    // Two lines a chunk, by turns, and more chunks than are read at once.
    let of = |seq: u32| if seq.is_multiple_of(3) { Stderr } else { Stdout };
    let text = |seq: u32| format!("{seq} first\n{seq} second\n");
    let chunks: Vec<_> = (0..300).map(|seq| chunk(lease, of(seq), seq, &text(seq))).collect();
    insert(&world.rm, &chunks).await.unwrap();
    let shown = async |from: OutputPosition, stream| {
        let filter = OutputFilter { attempt: None, stream, from };
        let page = read(&world.api, &scope, lease.task, filter, 500).await.unwrap();
        assert!(!page.more);
        page.chunks.into_iter().flat_map(|chunk| chunk.data).collect::<Vec<u8>>()
    };
    let tail = async |stream, lines| {
        let filter = OutputFilter { stream, ..OutputFilter::default() };
        store::output::tail(&world.api, &scope, lease.task, filter, lines).await.unwrap()
    };
    for stream in [None, Some(Stderr), Some(Stdout)] {
        let all: String = (0..300)
            .filter(|seq| stream.is_none_or(|wanted| wanted == of(*seq)))
            .map(text)
            .collect();
        let lines: Vec<&str> = all.split_inclusive('\n').collect();
        for count in [0, 1, 2, 3, 150, 151, 597, 600, 1000_usize] {
            let wanted = lines[lines.len().saturating_sub(count)..].concat();
            let from = tail(stream, u32::try_from(count).unwrap()).await;
            let found = String::from_utf8(shown(from, stream).await).unwrap();
            assert!(found == wanted, "{count} lines of {stream:?} from {from:?}");
        }
    }
    world
        .sql("update task_output set stored_at = stored_at - interval '1 hour' where seq < 200")
        .await;
    let now = runtime::clock::wall();
    for (ago, first) in [(7200, 0), (1800, 200)] {
        let at = now - Duration::from_secs(ago);
        let from = store::output::since(&world.api, &scope, lease.task, at).await.unwrap();
        let wanted: String = (first..300).map(text).collect();
        assert!(shown(from, None).await == wanted.as_bytes(), "{ago}");
    }
    let later = now + Duration::from_secs(60);
    let from = store::output::since(&world.api, &scope, lease.task, later).await.unwrap();
    assert!(shown(from, None).await.is_empty());
    insert(&world.rm, &[chunk(lease, Stdout, 300, "new")]).await.unwrap();
    assert_eq!(shown(from, None).await, b"new");
}

#[tokio::test]
async fn attempts_are_listed_in_order_with_the_one_that_runs() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let task = world.store(new_task(tenant)).await;
    for event in [Event::AttemptFailed, Event::HandedBack] {
        let lease = world.place(owned, &world.dispatch(leader, &[(tenant, task)]).await).await[0];
        let ended = ended(lease, event);
        match event {
            Event::AttemptFailed => {
                let failed = FailedAttempt { ended, retry_after: Duration::ZERO, held: None };
                transition::attempt_failed(&world.rm, &[failed]).await.unwrap();
                transition::due(&world.scheduler, &[(tenant, task)]).await.unwrap();
            }
            _ => drop(transition::handed_back(&world.rm, &[ended]).await.unwrap()),
        }
    }
    world.place(owned, &world.dispatch(leader, &[(tenant, task)]).await).await;
    let list = async |after, limit| {
        store::attempt::list(&world.api, &TenantScope::of_role(tenant), task, after, limit)
            .await
            .unwrap()
    };
    let all = list(0, 100).await;
    let seen: Vec<_> =
        all.iter().map(|a| (a.attempt, a.outcome, a.charged, a.ended_at.is_some())).collect();
    use AttemptOutcome::{Failed, HandedBack};
    assert_eq!(
        seen,
        [(1, Some(Failed), true, true), (2, Some(HandedBack), false, true), (3, None, true, false)]
    );
    let executor = new_session(owned.session).executor;
    assert!(all.iter().all(|a| a.executor.as_ref() == Some(&executor)));
    assert_eq!((all[0].exit_code, all[0].stdout_bytes, all[0].stderr_bytes), (Some(7), 11, 13));
    assert_eq!(list(1, 1).await, all[1..2]);
    assert!(list(3, 100).await.is_empty());
}

#[tokio::test]
async fn usage_is_the_sum_of_the_attempts_by_day_and_tier_to_the_last_unit() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let custom = Resources { cpu_millis: 3, memory_mib: 7, ..Resources::default() };
    for (tier, resources) in [
        (Some(Tier::Basic), Tier::Basic.resources()),
        (None, custom),
        (Some(Tier::Basic), Tier::Basic.resources()),
    ] {
        let task = world.store(NewTask { tier, resources, ..new_task(tenant) }).await;
        let lease = world.place(owned, &world.dispatch(leader, &[(tenant, task)]).await).await[0];
        world.sql("update task set placed_at = placed_at - interval '10 seconds' where session_id is not null").await;
        let report = EndedAttempt { ran_ms: 1_234, ..ended(lease, Event::Completed) };
        transition::completed(&world.rm, &[report]).await.unwrap();
    }
    let lost = world.run(leader, owned, tenant, 1).await[0];
    transition::lease_lapsed(&world.rm, &[LapsedLease { key: lost, at_most_once: false }])
        .await
        .unwrap();
    // One ended just before midnight, on the day before.
    world.sql("update attempt set placed_at = placed_at - interval '2 days',
        ended_at = date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 microsecond' where tier is null").await;
    let today = runtime::clock::wall().date_naive();
    let yesterday = today.pred_opt().unwrap();
    assert_eq!(crate::rollup::count(&world).await, 4);
    let start_of = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
    let used = async |from: NaiveDate| {
        let (from, until) = (start_of(from), start_of(today.succ_opt().unwrap()));
        let query = CostQuery { from, until, step: Step::Day, group: Group::Tier };
        let scope = TenantScope::of_role(tenant);
        store::cost::list(&world.api, &scope, &query).await.unwrap()
    };
    let rows = used(yesterday).await;
    let seen: Vec<_> = rows
        .iter()
        .map(|CostRow { starts_at, group, amounts: r, .. }| {
            let held = (r.cpu_millis_ms, r.memory_mib_ms);
            (*starts_at, group.as_deref(), r.attempts, r.charged_attempts, r.run_ms, held)
        })
        .collect();
    let expected = [
        (start_of(yesterday), None, 1, 1, 1_234, (1_234 * 3, 1_234 * 7)),
        (start_of(today), Some("basic"), 3, 2, 2_468, (2_468 * 250, 2_468 * 512)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(used(today).await.len(), 1);
}

#[tokio::test]
async fn output_beyond_the_plans_quota_is_not_stored_and_its_attempt_says_so() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    let plan: domain::id::PlanName = "little".parse().unwrap();
    let limits = PlanLimits { stored_output_bytes: 25, ..PlanLimits::default() };
    store::plan::put(&world.admin, &plan, None, &limits, By::SYSTEM).await.unwrap();
    let change = TenantChange { plan: Some(plan), weight: None };
    store::tenant::change(&world.admin, one, &change, By::SYSTEM).await.unwrap();
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, one, 2).await;
    let others = world.run(leader, owned, other, 1).await[0];
    let ten = "0123456789";
    let out = |lease, seq| chunk(lease, Stream::Stdout, seq, ten);
    let scope = TenantScope::of_role(one);
    let kept = async || store::output::kept(&world.api, &scope).await.unwrap();
    let over = async |lease: LeaseKey| {
        let found = store::attempt::list(&world.api, &scope, lease.task, 0, 9).await.unwrap();
        found[0].output_over_quota
    };
    assert_eq!(insert(&world.rm, &[out(leases[0], 0)]).await.unwrap(), 1);
    assert_eq!(insert(&world.rm, &[out(leases[0], 0)]).await.unwrap(), 0, "counted once");
    assert_eq!((kept().await, over(leases[0]).await), (10, false));
    let more = [out(leases[0], 1), out(leases[1], 0), out(others, 0), out(leases[1], 1)];
    assert_eq!(insert(&world.rm, &more).await.unwrap(), 2, "one fits, and the other tenant's");
    assert_eq!(kept().await, 20);
    assert_eq!((over(leases[0]).await, over(leases[1]).await), (false, true));
    // A small one still fits, and the task ends as it would have.
    assert_eq!(
        insert(&world.rm, &[chunk(leases[1], Stream::Stderr, 0, "12345")]).await.unwrap(),
        1
    );
    assert_eq!(insert(&world.rm, &[chunk(leases[1], Stream::Stderr, 1, "6")]).await.unwrap(), 0);
    transition::completed(&world.rm, &[ended(leases[1], Event::Completed)]).await.unwrap();
    assert!(over(leases[1]).await);
    let stored = "select coalesce(sum(length(data)), 0) from task_output where tenant_id = ";
    assert_eq!(world.number(format!("{stored}'{}'", one.uuid())).await, 25);
    assert_eq!(kept().await, 25);
    // What was dropped with its day counts no more.
    world.sql("update output_use set day = day - 40; update output_refused set at = at - interval '40 days'").await;
    assert_eq!(store::output::forget(&world.scheduler, 30, 100).await.unwrap(), 1);
    assert_eq!((kept().await, over(leases[1]).await), (0, false));
}
