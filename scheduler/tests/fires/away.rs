//! Edits while no scheduler fires: each due time is judged by how all was when it came.

use crate::world::{World, every, schedule, seconds};
use domain::audit::By;
use domain::schedule::{Misfire, Overlap};
use domain::time::Timestamp;
use std::time::Duration;
use store::TenantScope;
use store::schedule::{ListLimit, PutSchedule, ScheduleRecord, delete, list, pause, resume};

const SECOND: Duration = Duration::from_secs(1);

/// Each due time of it fires, however late.
fn patient(name: &str, interval: &str) -> PutSchedule {
    let mut new = schedule(name, every(interval));
    new.misfire = Misfire::FireNow;
    new
}

/// The due times, the version and the outcome in short, and the name of the task's template, of a schedule's ledger.
async fn ledger(world: &World, id: &str) -> Vec<(Timestamp, i64, String, String)> {
    let rows = world
        .sql(&format!(
            "select to_char(f.due_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') || ' ' || f.version || ' '
                || case when f.outcome in ('fired', 'late') then 'made' else f.outcome end || ' ' || coalesce(t.name, '-')
            from schedule_fire f left join task_spec t on t.id = f.task_id where f.schedule_id = '{id}' order by f.due_at"
        ))
        .await;
    let row = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let [due, version, outcome, name] = words[..] else { panic!("{line}") };
        (due.parse().unwrap(), version.parse().unwrap(), outcome.to_owned(), name.to_owned())
    };
    rows.lines().map(row).collect()
}

/// The whole seconds after `from`, up to `until`.
fn whole_seconds(from: Timestamp, until: Timestamp, step: i64) -> Vec<Timestamp> {
    (from.timestamp() + 1..=until.timestamp())
        .filter(|second| second % step == 0)
        .map(|second| Timestamp::from_timestamp(second, 0).unwrap())
        .collect()
}

async fn caught_up(world: &World) {
    let all = "select count(*) = 0 from schedule where due_at <= clock_timestamp() - interval '500 milliseconds'";
    world.until("all have caught up", SECOND * 20, all).await;
    world.until("nothing is kept", SECOND * 5, "select count(*) = 0 from schedule_span").await;
}

async fn paused(world: &World, scope: &TenantScope, name: &str) -> ScheduleRecord {
    pause(&world.api, scope, name, None).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_time_is_judged_by_the_version_in_which_it_came_and_has_its_row() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let running = world.scheduler().await;
    let made = world.put(&scope, &patient("s", "1s")).await;
    seconds(2.0).await;
    running.stop().await;
    seconds(2.1).await;
    let pause = paused(&world, &scope, "s").await.updated_at;
    seconds(2.1).await;
    let resumed = resume(&world.api, &scope, "s").await.unwrap().unwrap().updated_at;
    seconds(2.1).await;
    let mut other = patient("s", "5s");
    other.template = testkit::schedules::noop_template("v4").into();
    let edited = world.put(&scope, &other).await.updated_at;
    seconds(6.0).await;
    // Nothing lies between these, and nothing is kept of them.
    testkit::poll::until("no due time is near", SECOND * 10, async || {
        world.now().await.timestamp() % 5 == 1
    })
    .await
    .unwrap();
    for _ in 0..20 {
        paused(&world, &scope, "s").await;
        resume(&world.api, &scope, "s").await.unwrap();
    }
    assert!(world.number("select count(*) from schedule_span").await <= 8);
    let running = world.scheduler().await;
    caught_up(&world).await;
    let now = world.now().await;
    running.stop().await;
    let ledger = ledger(&world, &made.id.uuid().to_string()).await;
    let mut due = whole_seconds(made.created_at, edited, 1);
    due.extend(whole_seconds(edited, now - SECOND, 5));
    let rows: Vec<_> = ledger.iter().map(|row| row.0).take(due.len()).collect();
    assert_eq!(rows, due, "each due time of either timing, once");
    for (due, version, outcome, name) in &ledger {
        let wanted = match *due {
            due if due <= pause => (1, "made", "v1"),
            due if due <= resumed => (2, "paused", "-"),
            due if due <= edited => (3, "made", "v1"),
            // As often as it was paused and resumed between two due times says nothing of it.
            _ => ((*version).max(4), "made", "v4"),
        };
        assert_eq!((*version, outcome.as_str(), name.as_str()), wanted, "{due}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overlap_and_misfire_are_those_of_the_version_in_which_a_due_time_came() {
    let world = World::with(&[("BERTH_SCHEDULES__MISFIRE_AFTER", "3500ms")]).await;
    let scope = world.tenant().await;
    let mut strict = patient("s", "1s");
    (strict.misfire, strict.overlap) = (Misfire::Skip, Overlap::Skip);
    let made = world.put(&scope, &strict).await;
    seconds(3.1).await;
    let edited = world.put(&scope, &patient("s", "1s")).await;
    seconds(4.0).await;
    let running = world.scheduler().await;
    caught_up(&world).await;
    running.stop().await;
    let ledger = ledger(&world, &made.id.uuid().to_string()).await;
    for (due, version, outcome, _) in &ledger {
        let wanted = if *due <= edited.updated_at { (1, "skipped_misfire") } else { (2, "made") };
        assert_eq!((*version, outcome.as_str()), wanted, "{due}");
    }
    assert!(ledger.len() >= 6, "{ledger:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_before_a_schedule_was_deleted_has_its_row_and_its_name_is_free_at_once() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let old = world.put(&scope, &patient("s", "1s")).await;
    let quiet = world.put(&scope, &schedule("quiet", every("1h"))).await;
    seconds(3.1).await;
    for name in ["s", "quiet"] {
        delete(&world.api, &scope, name, None).await.unwrap();
    }
    let at = format!(
        "select to_char(deleted_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from schedule where id = '{}'",
        old.id.uuid()
    );
    let deleted: Timestamp = world.sql(&at).await.parse().unwrap();
    let limit = ListLimit { rows: 10, bytes: 1 << 20 };
    assert!(list(&world.api, &scope, None, limit).await.unwrap().rows.is_empty());
    assert_eq!(store::schedule::held(&world.api, &scope, 10).await.unwrap(), 0);
    let left = format!("select count(*) from schedule where id = '{}'", quiet.id.uuid());
    assert_eq!(world.number(&left).await, 0, "nothing of it had come");
    let new = world.put(&scope, &schedule("s", every("1h"))).await;
    assert_ne!(new.id, old.id);
    seconds(2.0).await;
    let running = world.scheduler().await;
    world.until("only the new one is left", SECOND * 20, "select count(*) = 1 from schedule").await;
    running.stop().await;
    let ledger = ledger(&world, &old.id.uuid().to_string()).await;
    let due: Vec<_> = ledger.iter().map(|row| row.0).collect();
    assert_eq!(due, whole_seconds(old.created_at, deleted, 1));
    assert!(ledger.iter().all(|row| (row.1, row.2.as_str()) == (1, "made")), "{ledger:?}");
    assert_eq!(world.number("select count(*) from schedule_span").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn due_times_of_a_suspension_are_those_that_came_in_it() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let made = world.put(&scope, &patient("s", "1s")).await;
    let since = async || -> Timestamp {
        world
            .sql("select to_char(state_since at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from tenant where state_since is not null")
            .await
            .parse()
            .unwrap()
    };
    seconds(2.1).await;
    store::tenant::suspend(&world.admin, scope.tenant(), By::SYSTEM).await.unwrap();
    let suspended = since().await;
    seconds(2.1).await;
    store::tenant::resume(&world.admin, scope.tenant(), By::SYSTEM).await.unwrap();
    let resumed = since().await;
    seconds(2.1).await;
    let running = world.scheduler().await;
    caught_up(&world).await;
    running.stop().await;
    let ledger = ledger(&world, &made.id.uuid().to_string()).await;
    assert!(ledger.len() >= 5, "{ledger:?}");
    for (due, _, outcome, _) in &ledger {
        let wanted = if *due > suspended && *due <= resumed { "suspended" } else { "made" };
        assert_eq!(outcome, wanted, "{due}");
    }
    assert_eq!(world.faults(SECOND).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_tenant_has_no_due_times_any_more() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let other = world.tenant().await;
    for at in 0..10 {
        world.put(&scope, &patient(&format!("s{at}"), "1s")).await;
    }
    world.put(&other, &patient("s", "1s")).await;
    let running = world.scheduler().await;
    let fired = "select count(*) >= 10 from schedule_fire";
    world.until("they fire", SECOND * 10, fired).await;
    store::tenant::delete(&world.admin, scope.tenant(), By::SYSTEM).await.unwrap();
    let deleted = world.now().await;
    let tenant = scope.tenant().uuid();
    let quiet = format!(
        "select count(*) = 0 from schedule where tenant_id = '{tenant}' and (due_at is not null or ended_at is null)"
    );
    world.until("none is due", SECOND * 10, &quiet).await;
    let before = world.number("select count(*) from schedule_fire").await;
    let on = format!("select count(*) > {before} + 2 from schedule_fire");
    world.until("the other's go on", SECOND * 10, &on).await;
    running.stop().await;
    let rows = format!(
        "select count(*) from schedule_fire where tenant_id = '{tenant}' and due_at > '{}'",
        deleted.to_rfc3339()
    );
    assert_eq!(world.number(&rows).await, 0);
    let query = format!(
        "select count(*) from schedule_fire where tenant_id = '{tenant}' and outcome = 'suspended'"
    );
    assert_eq!(world.number(&query).await, 0);
}
