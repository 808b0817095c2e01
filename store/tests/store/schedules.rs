//! Schedules: an idempotent put, exact quotas, and every due time once, whoever writes it.

use crate::support::{Firing, World, new_schedule, once, template};
use domain::audit::By;
use domain::epoch::Epoch;
use domain::id::{PlanName, ScheduleId, TaskId, TenantId};
use domain::plan::PlanLimits;
use domain::schedule::{Made, Outcome, Overlap, Spec, TaskTemplate, Timing};
use domain::task::{NoopRun, Run, State};
use domain::time::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::fire::{tell_missed, write};
use store::idempotency::{IdempotencyKey, Once};
use store::schedule::{
    self, Backfill, BackfillAnswer, DeleteAnswer, FireFilter, FireKind, ListLimit, PutAnswer,
    PutSchedule, ScheduleRecord, Trigger, TriggerAnswer,
};
use store::shard::{self, ShardEpoch};
use store::tenant::{self, TenantChange};
use tokio::task::JoinSet;

const MINUTE: Duration = Duration::from_secs(60);
const TERM: Duration = Duration::from_secs(30);

/// Who may use every pool fires.
fn by<'a>(by: &'a str, once: Option<&'a IdempotencyKey>) -> Trigger<'a> {
    Trigger { by, once, admits: &|_| true }
}

async fn trigger(world: &World, scope: &TenantScope, name: &str, key_id: &str) -> TriggerAnswer {
    let fired = schedule::trigger(&world.submit, scope, name, by(key_id, None), |_| Vec::new());
    match fired.await.unwrap() {
        Once::Done(answer) => answer,
        other => panic!("{other:?}"),
    }
}

async fn put(world: &World, tenant: TenantId, name: &str) -> ScheduleRecord {
    let scope = TenantScope::of_role(tenant);
    match schedule::put(&world.api, &scope, &new_schedule(name)).await.unwrap() {
        PutAnswer::Created(record) => *record,
        other => panic!("{other:?}"),
    }
}

/// A schedule that was due `ago_ms` ago.
async fn due(world: &World, tenant: TenantId, name: &str, ago_ms: i64) -> ScheduleId {
    let id = put(world, tenant, name).await.id;
    world.make_due(id, ago_ms).await;
    id
}

async fn fires(world: &World) -> i64 {
    world.number("select count(*) from schedule_fire").await
}

async fn tasks(world: &World) -> i64 {
    world.number("select (select count(*) from task) + (select count(*) from task_history)").await
}

#[tokio::test]
async fn the_same_put_again_changes_nothing_and_another_is_a_new_version() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let first = put(&world, scope.tenant(), "nightly").await;
    assert_eq!((first.version, first.fires, first.ended_at), (1, 0, None));
    assert!(first.next_at.is_some_and(|at| at > first.created_at));
    let again = schedule::put(&world.api, &scope, &new_schedule("nightly")).await.unwrap();
    assert_eq!(again, PutAnswer::Unchanged(Box::new(first.clone())));
    let mut other = new_schedule("nightly");
    other.overlap = Overlap::Skip;
    let PutAnswer::Updated(second) = schedule::put(&world.api, &scope, &other).await.unwrap()
    else {
        panic!("it is another")
    };
    assert_eq!((second.version, second.id, second.next_at), (2, first.id, first.next_at));
    assert_eq!(schedule::get(&world.api, &scope, "nightly").await.unwrap(), Some(*second));
    assert_eq!(schedule::get(&world.api, &scope, "weekly").await.unwrap(), None);
    let audited = "select count(*) from audit where action = 'schedule.put'";
    assert_eq!(world.number(audited).await, 2, "what changed nothing is not told");
    let mut longer = template();
    longer.run = Run::Noop(NoopRun { sleep: Duration::from_secs(77) });
    longer.execution_cap = Duration::from_secs(7);
    other.template = longer.into();
    assert!(matches!(
        schedule::put(&world.api, &scope, &other).await.unwrap(),
        PutAnswer::Updated(_)
    ));
    let told = "select concat_ws(' ', before->'task'->>'execution_cap', after->'task'->>'execution_cap', after->'task'->>'run',
            after->'task'->>'run_changed', before->>'version', after->>'version', position('1m17s' in after::text) > 0)
        from audit where action = 'schedule.put' order by id desc limit 1";
    let caps = format!("{} 7s", domain::time::format_duration(template().execution_cap));
    assert_eq!(world.text(told).await.unwrap(), format!("{caps} noop true 2 3 f"));
}

#[tokio::test]
async fn a_put_for_another_version_is_refused_and_says_which_it_is() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let with = |version| {
        let mut put = new_schedule("nightly");
        (put.if_version, put.overlap) = (Some(version), Overlap::Skip);
        put
    };
    let answer = schedule::put(&world.api, &scope, &with(1)).await.unwrap();
    assert_eq!(answer, PutAnswer::VersionMismatch { version: None });
    put(&world, scope.tenant(), "nightly").await;
    for wrong in [0, 2] {
        let answer = schedule::put(&world.api, &scope, &with(wrong)).await.unwrap();
        assert_eq!(answer, PutAnswer::VersionMismatch { version: Some(1) });
    }
    let answer = schedule::put(&world.api, &scope, &with(1)).await.unwrap();
    assert!(matches!(answer, PutAnswer::Updated(record) if record.version == 2));
    let deleted = schedule::delete(&world.api, &scope, "nightly", Some(1)).await.unwrap();
    assert_eq!(deleted, DeleteAnswer::VersionMismatch { version: 2 });
    let delete = async || schedule::delete(&world.api, &scope, "nightly", None).await.unwrap();
    assert_eq!(delete().await, DeleteAnswer::Deleted);
    assert_eq!(delete().await, DeleteAnswer::NotFound);
}

#[tokio::test]
async fn what_is_never_due_is_not_stored() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let mut never = new_schedule("never");
    never.timing = Timing::of(vec![Spec::At("2001-01-01T00:00:00Z".parse().unwrap())]);
    let answer = schedule::put(&world.api, &scope, &never).await.unwrap();
    assert_eq!(answer, PutAnswer::NeverFires);
    assert_eq!(world.number("select count(*) from schedule").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_made_at_once_just_those_that_the_plan_allows_are_stored() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let plan: PlanName = "small".parse().unwrap();
    let limits = PlanLimits { schedules: 7, ..PlanLimits::default() };
    store::plan::put(&world.admin, &plan, None, &limits, By::SYSTEM).await.unwrap();
    let change = TenantChange { plan: Some(plan), weight: None };
    tenant::change(&world.admin, tenant, &change, By::SYSTEM).await.unwrap();
    let mut all = JoinSet::new();
    for at in 0..100 {
        let world = Arc::clone(&world);
        all.spawn(async move {
            let scope = TenantScope::of_role(tenant);
            let new = new_schedule(&format!("s{}", at % 50));
            schedule::put(&world.api, &scope, &new).await.unwrap()
        });
    }
    let answers = all.join_all().await;
    let created = answers.iter().filter(|answer| matches!(answer, PutAnswer::Created(_))).count();
    assert_eq!(created, 7);
    let refused = |answer: &&PutAnswer| matches!(answer, PutAnswer::QuotaReached { limit: 7 });
    let same = |answer: &&PutAnswer| matches!(answer, PutAnswer::Unchanged(_));
    assert_eq!(answers.iter().filter(|a| refused(a) || same(a)).count(), 93);
    assert_eq!(world.number("select count(*) from schedule").await, 7);
}

#[tokio::test]
async fn schedules_are_listed_by_name_page_by_page_and_only_ones_own() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    for name in ["b", "a", "C", "ä"] {
        put(&world, one, name).await;
    }
    put(&world, other, "x").await;
    let names = async |after: Option<&str>, limit| -> Vec<String> {
        let scope = TenantScope::of_role(one);
        let limit = ListLimit { rows: limit, bytes: 1 << 20 };
        let found = schedule::list(&world.api, &scope, after, limit).await.unwrap();
        assert!(!found.more);
        found.rows.into_iter().map(|record| record.name).collect()
    };
    assert_eq!(names(None, 10).await, ["C", "a", "b", "ä"]);
    assert_eq!(names(Some("C"), 2).await, ["a", "b"]);
    let theirs = TenantScope::of_role(one);
    assert_eq!(schedule::get(&world.api, &theirs, "x").await.unwrap(), None);
    assert_eq!(schedule::pause(&world.api, &theirs, "x", None).await.unwrap(), None);
    assert_eq!(
        schedule::delete(&world.api, &theirs, "x", None).await.unwrap(),
        DeleteAnswer::NotFound
    );
    let fired = trigger(&world, &theirs, "x", "aaaaaaaaaaaa").await;
    assert_eq!(fired, TriggerAnswer::NotFound);
    let fires = schedule::fires(&world.api, &theirs, "x", &FireFilter::default(), 9).await;
    assert_eq!(fires.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_fired_once_with_two_writers_racing() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    for at in 0..40 {
        due(&world, tenant, &format!("s{at}"), 5).await;
    }
    let firing = Firing::begin(&world, TERM).await;
    let all = firing.due(&world).await;
    assert_eq!(all.len(), 40);
    let mut writers = JoinSet::new();
    for _ in 0..6 {
        let (world, firing, all) = (Arc::clone(&world), firing.clone(), all.clone());
        writers.spawn(async move { firing.fire(&world, &all, MINUTE).await.unwrap() });
    }
    let written = writers.join_all().await;
    assert_eq!(written.iter().map(|w| w.rows.len()).sum::<usize>(), 40);
    assert_eq!((fires(&world).await, tasks(&world).await), (40, 40));
    let next = "select count(*) from schedule s join schedule_fire f on f.schedule_id = s.id and s.due_at = f.due_at + interval '1 minute'
        where s.fires = 1 and s.recent = array[f.task_id]";
    assert_eq!(world.number(next).await, 40);
    assert!(firing.due(&world).await.is_empty());
    world.check_promises(40).await;
}

#[tokio::test]
async fn an_old_epoch_writes_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    due(&world, tenant, "s", 5).await;
    let old = Firing::begin(&world, Duration::ZERO).await;
    let all = old.due(&world).await;
    assert_eq!(all.len(), 1);
    let new = Firing::begin(&world, TERM).await;
    assert_eq!(new.shards.len(), 64, "the old one's term is over");
    assert!(new.shards.iter().all(|at| at.epoch == Epoch(2)));
    let written = old.fire(&world, &all, MINUTE).await.unwrap();
    assert_eq!((written.rows.len(), written.lost.len()), (0, 64));
    assert_eq!((fires(&world).await, tasks(&world).await), (0, 0));
    // Nor does one that names the right epoch and is another.
    let forged = Firing { node: old.node, shards: new.shards.clone() };
    assert_eq!(forged.fire(&world, &all, MINUTE).await.unwrap().rows.len(), 0);
    assert_eq!(new.fire(&world, &all, MINUTE).await.unwrap().rows, [Outcome::Fired]);
    assert!(Firing::begin(&world, TERM).await.shards.is_empty(), "the new one lives");
}

#[tokio::test]
async fn shards_are_given_up_at_once_and_only_by_their_owner() {
    let world = World::new().await;
    let one = Firing::begin(&world, TERM).await;
    let other = domain::id::NodeId::fresh();
    shard::beat(&world.scheduler, other, TERM).await.unwrap();
    let all: Vec<_> = one.shards.iter().map(|at| at.shard).collect();
    shard::give_up(&world.scheduler, other, &all).await.unwrap();
    assert!(shard::take(&world.scheduler, other, &all).await.unwrap().is_empty());
    shard::give_up(&world.scheduler, one.node, &all[..3]).await.unwrap();
    let taken = shard::take(&world.scheduler, other, &all).await.unwrap();
    assert_eq!(taken.len(), 3);
    shard::leave(&world.scheduler, one.node).await.unwrap();
    assert_eq!(shard::take(&world.scheduler, other, &all).await.unwrap().len(), 61);
    let beat = shard::beat(&world.scheduler, other, TERM).await.unwrap();
    assert_eq!(beat.nodes, [other]);
    assert!(beat.shards.iter().all(|shard| shard.owner == Some(other)));
    // More shards, and fewer open ones, lose none.
    shard::prepare(&world.scheduler, 80).await.unwrap();
    shard::prepare(&world.scheduler, 2).await.unwrap();
    let open = world.number("select count(*) from schedule_shard where open").await;
    assert_eq!((open, world.number("select count(*) from schedule_shard").await), (2, 80));
    let tenant = world.tenant().await;
    for at in 0..10 {
        put(&world, tenant, &at.to_string()).await;
    }
    assert_eq!(world.number("select max(shard)::bigint from schedule").await, 1);
}

#[tokio::test]
async fn what_was_edited_or_is_not_due_yet_is_not_fired() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let firing = Firing::begin(&world, TERM).await;
    let id = due(&world, tenant, "s", 5).await;
    let mut all = firing.due(&world).await;
    world.make_due(id, 4).await;
    assert_eq!(
        firing.fire(&world, &all, MINUTE).await.unwrap().rows.len(),
        0,
        "due at another time"
    );
    all = firing.due(&world).await;
    world.make_due(id, -60_000).await;
    assert_eq!(
        schedule::delete(&world.api, &scope, "s", None).await.unwrap(),
        DeleteAnswer::Deleted
    );
    assert_eq!(firing.fire(&world, &all, MINUTE).await.unwrap().rows.len(), 0, "deleted");
    let id = due(&world, tenant, "s", -60_000).await;
    world.sql(format!("update schedule set fire_at = now() where id = '{}'", id.uuid())).await;
    all = firing.due(&world).await;
    world.sql("update schedule set fire_at = due_at").await;
    let written = firing.fire(&world, &all, MINUTE).await.unwrap();
    assert_eq!((written.rows.len(), written.early.len()), (0, 1));
    assert_eq!(written.early[0].due_at, all[0].due_at);
    assert_eq!(fires(&world).await, 0);
}

#[tokio::test]
async fn who_fires_sees_the_pause_that_was_told() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let firing = Firing::begin(&world, TERM).await;
    due(&world, tenant, "s", 5).await;
    let all = firing.due(&world).await;
    let paused = schedule::pause(&world.api, &scope, "s", Some("it fails")).await.unwrap().unwrap();
    assert_eq!(paused.version, 2);
    assert_eq!(paused.paused.unwrap().because.as_deref(), Some("it fails"));
    let again = schedule::pause(&world.api, &scope, "s", Some("other")).await.unwrap().unwrap();
    assert_eq!(again.paused.unwrap().because.as_deref(), Some("it fails"));
    let written = firing
        .fire_by(&world, &all, |facts| {
            assert!(facts.paused);
            let mut verdict = once(facts, MINUTE, TaskId::fresh());
            (verdict.rows[0].outcome, verdict.rows[0].made) = (Outcome::Paused, None);
            verdict
        })
        .await
        .unwrap();
    assert_eq!(written.rows, [Outcome::Paused]);
    let resumed = schedule::resume(&world.api, &scope, "s").await.unwrap().unwrap();
    assert_eq!((resumed.version, resumed.paused), (3, None));
    let filter = FireFilter { outcomes: vec![Outcome::Paused], before: None };
    let told = schedule::fires(&world.api, &scope, "s", &filter, 10).await.unwrap().unwrap();
    assert_eq!((told.len(), told[0].outcome, told[0].task), (1, Outcome::Paused, None));
    assert_eq!(tasks(&world).await, 0);
}

#[tokio::test]
async fn a_trigger_fires_now_and_is_in_the_ledger_latest_first() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let before = put(&world, tenant, "s").await;
    for _ in 0..3 {
        let answer = trigger(&world, &scope, "s", "bbbbbbbbbbbb").await;
        assert!(matches!(answer, TriggerAnswer::Fired(fire) if fire.kind == FireKind::Trigger));
    }
    let all = FireFilter::default();
    let told = schedule::fires(&world.api, &scope, "s", &all, 2).await.unwrap().unwrap();
    assert_eq!(told.len(), 2);
    assert!(told[0].due_at > told[1].due_at);
    let rest = FireFilter { before: Some(told[1].due_at), ..all };
    assert_eq!(schedule::fires(&world.api, &scope, "s", &rest, 9).await.unwrap().unwrap().len(), 1);
    let after = schedule::get(&world.api, &scope, "s").await.unwrap().unwrap();
    assert_eq!((after.next_at, after.version, after.fires), (before.next_at, 1, 0));
    assert_eq!(after.recent.len(), 3);
    let keys = "select count(*) from task_spec where key_id = 'bbbbbbbbbbbb'";
    assert_eq!(world.number(keys).await, 3);
    world.check_promises(3).await;
}

#[tokio::test]
async fn a_trigger_with_a_key_fires_once_and_gives_its_answer_again() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let key = |body: u8| IdempotencyKey {
        route: "trigger".to_owned(),
        key: "k".to_owned(),
        body_hash: [body; 32],
    };
    let ask = async |body: u8| {
        let key = key(body);
        let by = by("bbbbbbbbbbbb", Some(&key));
        schedule::trigger(&world.submit, &scope, "s", by, |_| b"fired".to_vec()).await.unwrap()
    };
    assert_eq!(ask(1).await, Once::Done(TriggerAnswer::NotFound));
    put(&world, tenant, "s").await;
    assert!(matches!(ask(1).await, Once::Done(TriggerAnswer::Fired(_))), "no key was left behind");
    for _ in 0..2 {
        assert_eq!(ask(1).await, Once::Replayed { status: 201, body: b"fired".to_vec() });
    }
    assert_eq!(ask(2).await, Once::KeyReused);
    assert_eq!(world.number("select count(*) from schedule_fire").await, 1);
}

#[tokio::test]
async fn a_unique_key_that_is_held_makes_no_task_and_the_ledger_says_so() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let mut unique = new_schedule("s");
    unique.template = TaskTemplate { unique_key: Some("one".to_owned()), ..template() }.into();
    let PutAnswer::Created(record) = schedule::put(&world.api, &scope, &unique).await.unwrap()
    else {
        panic!("it is new")
    };
    let firing = Firing::begin(&world, TERM).await;
    for (ago, expected) in [(50, Outcome::Fired), (40, Outcome::SkippedOverlap)] {
        world.make_due(record.id, ago).await;
        let all = firing.due(&world).await;
        assert_eq!(firing.fire(&world, &all, MINUTE).await.unwrap().rows, [expected]);
    }
    let answer = trigger(&world, &scope, "s", "bbbbbbbbbbbb").await;
    assert!(matches!(answer, TriggerAnswer::Existing(_)));
    let told = schedule::fires(&world.api, &scope, "s", &FireFilter::default(), 9).await.unwrap();
    let told = told.unwrap();
    assert!(told[0].detail.as_deref().unwrap().contains("holds the unique key"), "{told:?}");
    assert_eq!((told.len(), tasks(&world).await), (2, 1));
}

#[tokio::test]
async fn what_overlaps_is_cancelled_in_the_same_breath() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let mut other = new_schedule("s");
    other.overlap = Overlap::CancelOther;
    let PutAnswer::Created(record) = schedule::put(&world.api, &scope, &other).await.unwrap()
    else {
        panic!("it is new")
    };
    let firing = Firing::begin(&world, TERM).await;
    let mut seen = Vec::new();
    for ago in [50, 40, 30] {
        world.make_due(record.id, ago).await;
        let all = firing.due(&world).await;
        let task = TaskId::fresh();
        let written = firing
            .fire_by(&world, &all, |facts| {
                let mut verdict = once(facts, MINUTE, task);
                verdict.cancel.clone_from(&facts.live);
                assert_eq!(facts.live, seen, "those that live");
                verdict
            })
            .await
            .unwrap();
        assert_eq!((written.rows.len(), written.asked_to_stop), (1, false));
        seen = vec![Made::Task(task)];
    }
    assert_eq!(
        world.number("select count(*) from task_history where state = 'cancelled'").await,
        2
    );
    assert_eq!(world.state(seen[0].task().unwrap()).await, Some(State::Ready));
    world.check_promises(3).await;
}

#[tokio::test]
async fn tasks_that_wait_for_each_other_share_a_key_of_their_schedules_own() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let mut buffered = new_schedule("s");
    buffered.overlap = Overlap::BufferAll;
    schedule::put(&world.api, &scope, &buffered).await.unwrap();
    for _ in 0..2 {
        trigger(&world, &scope, "s", "bbbbbbbbbbbb").await;
    }
    let keys = "select count(*) from task where concurrency_key like 'schedule_%'";
    assert_eq!(world.number(keys).await, 2);
}

#[tokio::test]
async fn a_missed_due_time_is_told_once_and_names_the_schedule() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let id = due(&world, tenant, "nightly", 61_000).await;
    due(&world, tenant, "young", 59_000).await;
    let missed = tell_missed(&world.scheduler, MINUTE, 10).await.unwrap();
    assert_eq!(missed.len(), 1);
    assert_eq!((missed[0].tenant, missed[0].schedule), (tenant, id));
    assert!(tell_missed(&world.scheduler, MINUTE, 10).await.unwrap().is_empty(), "once");
    let events =
        store::event::warnings(&world.api, &TenantScope::of_role(tenant), 10).await.unwrap();
    assert_eq!((events.len(), events[0].kind.as_str()), (1, "fire_missed"));
    assert!(events[0].detail_json.contains("\"nightly\""), "{}", events[0].detail_json);
    assert!(events[0].detail_json.contains(&id.to_string()), "{}", events[0].detail_json);
    world.make_due(id, 60_500).await;
    assert_eq!(tell_missed(&world.scheduler, MINUTE, 10).await.unwrap().len(), 1, "another time");
}

#[tokio::test]
async fn a_backfill_fires_what_made_no_task_once_and_says_so_before() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let mut each = new_schedule("s");
    each.timing = Timing::of(vec![Spec::Cron("*/10 * * * *".to_owned())]);
    each.paused = Some(true);
    let PutAnswer::Created(record) = schedule::put(&world.api, &scope, &each).await.unwrap() else {
        panic!("it is new")
    };
    // As if it had been made a day ago.
    world.sql("update schedule set created_at = created_at - interval '1 day'").await;
    let to = record.next_at.unwrap() - Duration::from_secs(1800);
    let from = to - Duration::from_secs(3600);
    // The first of the hour was skipped, the second made a task.
    for (minutes, outcome) in [(0, "'paused', null"), (10, "'fired', gen_random_uuid()")] {
        world.sql(format!(
            "insert into schedule_fire (tenant_id, schedule_id, due_at, outcome, kind, fired_at, task_id, version)
                select '{}', '{}', '{}'::timestamptz + interval '{minutes} minutes', v.outcome, 'scheduled', now(), v.task, 1
                from (select {outcome}) v(outcome, task)",
            tenant.uuid(), record.id.uuid(), from.to_rfc3339(),
            outcome = outcome.replace("null", "null::uuid")
        )).await;
    }
    let ask = async |dry_run| {
        let range = Backfill { from, to, dry_run, per_second: 100.0 };
        schedule::backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await.unwrap()
    };
    let BackfillAnswer::Planned(plan) = ask(true).await else { panic!("it can be done") };
    assert_eq!((plan.due, plan.to_fire), (6, 5));
    assert_eq!(world.number("select count(*) from schedule_backfill").await, 0, "a dry run");
    assert_eq!(ask(false).await, BackfillAnswer::Planned(plan));
    assert_eq!(ask(false).await, BackfillAnswer::Busy);
    let firing = Firing::begin(&world, TERM).await;
    let shards: Vec<_> = firing.shards.iter().map(|at| at.shard).collect();
    let found = store::fire::backfills(&world.scheduler, &shards, 10).await.unwrap();
    assert_eq!(found.len(), 1);
    let at = firing.shards.iter().find(|at| at.shard == found[0].shard).copied().unwrap();
    let stale = ShardEpoch { epoch: Epoch(at.epoch.0 - 1), ..at };
    let step = async |at, room| {
        store::fire::backfill_step(&world.scheduler, firing.node, at, record.id, |_, _| room)
            .await
            .unwrap()
    };
    assert_eq!(step(stale, 100).await.made, 0, "an old epoch fires nothing");
    assert_eq!(step(at, 0).await.made, 0, "no room");
    let made = step(at, 100).await;
    assert_eq!((made.made, made.done), (5, true));
    assert_eq!(
        world
            .number(
                "select count(*) from schedule_fire where kind = 'backfill' and outcome = 'fired'"
            )
            .await,
        5
    );
    assert_eq!((fires(&world).await, tasks(&world).await), (6, 5));
    let told = "select count(*) from task_spec t join schedule_fire f on f.task_id = t.id and f.due_at = t.due_at
        where t.schedule_name = 's' and t.run_at > t.due_at";
    assert_eq!(world.number(told).await, 5, "each knows its own due time, and runs now");
    let BackfillAnswer::Planned(plan) = ask(false).await else { panic!("it can be done") };
    assert_eq!((plan.due, plan.to_fire), (6, 0), "all have made a task");
}

#[tokio::test]
async fn a_purge_takes_a_tenants_schedules_and_their_ledger_and_nobody_elses() {
    let world = World::new().await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    for tenant in [one, other] {
        for at in 0..3 {
            due(&world, tenant, &format!("s{at}"), 5).await;
        }
    }
    let firing = Firing::begin(&world, TERM).await;
    let all = firing.due(&world).await;
    firing
        .fire_by(&world, &all, |facts| {
            let mut verdict = once(facts, MINUTE, TaskId::fresh());
            (verdict.rows[0].outcome, verdict.rows[0].made) = (Outcome::Suspended, None);
            verdict
        })
        .await
        .unwrap();
    // A due time of no day that has a partition.
    world.sql("update schedule_fire set due_at = due_at - interval '1 year' where schedule_id = (select id from schedule where name = 's0' limit 1)").await;
    tenant::delete(&world.admin, one, By::SYSTEM).await.unwrap();
    world
        .sql("update tenant set deleted_at = now() - interval '2 hours' where state = 'deleted'")
        .await;
    let grace = Duration::from_secs(3600);
    while tenant::purge(&world.scheduler, one, grace, 2).await.unwrap().is_some() {}
    for (tenant, rows) in [(one, 0), (other, 3)] {
        for table in ["schedule", "schedule_fire"] {
            let count =
                format!("select count(*) from {table} where tenant_id = '{}'", tenant.uuid());
            assert_eq!(world.number(count).await, rows, "{table}");
        }
    }
    assert_eq!(
        store::partition::strays(&world.scheduler).await.unwrap(),
        0,
        "an old due time is none"
    );
}

#[tokio::test]
async fn an_edit_keeps_a_due_time_that_has_come() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let id = due(&world, tenant, "s", 5).await;
    let was = schedule::get(&world.api, &scope, "s").await.unwrap().unwrap().next_at;
    let mut edit = new_schedule("s");
    edit.timing = Timing::of(vec![Spec::Cron("0 4 * * *".to_owned())]);
    let put =
        async |edit: PutSchedule| match schedule::put(&world.api, &scope, &edit).await.unwrap() {
            PutAnswer::Updated(record) => *record,
            other => panic!("{other:?}"),
        };
    assert_eq!(put(edit.clone()).await.next_at, was);
    world.make_due(id, -60_000).await;
    edit.timing = Timing::of(vec![Spec::Cron("0 5 * * *".to_owned())]);
    let next = put(edit.clone()).await.next_at.unwrap();
    assert_eq!(next.format("%H:%M:%S").to_string(), "05:00:00", "what has not come is found anew");
    edit.template = TaskTemplate { name: None, ..template() }.into();
    assert_eq!(
        put(edit.clone()).await.next_at,
        Some(next),
        "and stays where only its task is another"
    );
}

#[tokio::test]
async fn one_that_cannot_be_judged_keeps_no_other_from_firing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let bad = due(&world, tenant, "bad", 5).await;
    due(&world, tenant, "good", 5).await;
    let firing = Firing::begin(&world, TERM).await;
    let all = firing.due(&world).await;
    let judge = |facts: &[store::fire::Facts]| {
        let good = facts.iter().filter(|facts| facts.due.schedule != bad);
        Ok(good.map(|facts| once(facts, MINUTE, TaskId::fresh())).collect())
    };
    let written = write(&world.scheduler, firing.who(), &all, judge).await.unwrap();
    assert_eq!(written.rows, [Outcome::Fired]);
    assert_eq!(firing.due(&world).await.len(), 1);
}

#[tokio::test]
async fn a_backfill_from_before_1970_begins_with_its_first_instant() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let mut each = new_schedule("s");
    each.timing = Timing::of(vec![Spec::Cron("*/10 * * * *".to_owned())]);
    schedule::put(&world.api, &scope, &each).await.unwrap();
    let first = Timestamp::UNIX_EPOCH;
    for before in [Duration::ZERO, Duration::from_secs(3600)] {
        let (from, to) = (first - before, first + Duration::from_secs(1800));
        let range = Backfill { from, to, dry_run: true, per_second: 100.0 };
        let answer = schedule::backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await;
        let BackfillAnswer::Planned(plan) = answer.unwrap() else { panic!("it can be done") };
        let last = first + Duration::from_secs(1200);
        assert_eq!((plan.due, plan.span), (3, Some((first, last))));
    }
}
