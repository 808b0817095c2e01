//! The tasks of schedules: found by it, and counted when they fail one after the other.

use crate::support::{Firing, Leader, Owned, World, ended, new_schedule, new_task};
use domain::id::{NodeId, ScheduleId, TaskId, TenantId};
use domain::schedule::Made;
use domain::task::{Event, State};
use std::collections::HashMap;
use std::time::Duration;
use store::TenantScope;
use store::event::lag;
use store::fire::{PausedForFailures, count_ends};
use store::schedule::{self, PutAnswer};
use store::task::submit::NewTask;
use store::task::{TaskFilter, find, transition};

const TERM: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_secs(40);

/// A schedule that pauses after so many failures, or never, and was due a minute ago.
async fn due(world: &World, tenant: TenantId, name: &str, enough: Option<u32>) -> ScheduleId {
    let mut new = new_schedule(name);
    new.pause_after_failures = enough;
    let PutAnswer::Created(record) =
        schedule::put(&world.api, &TenantScope::of_role(tenant), &new).await.unwrap()
    else {
        panic!("it is new")
    };
    world.make_due(record.id, 60_000).await;
    record.id
}

/// Fires all that has come, once; the tasks, by their schedule.
async fn fire(world: &World, firing: &Firing) -> HashMap<ScheduleId, TaskId> {
    let due = firing.due(world).await;
    firing.fire(world, &due, SECOND).await.unwrap();
    let mut made = HashMap::new();
    for due in due {
        let id = due.schedule.uuid();
        let sql = format!(
            "select 'task_' || replace(task_id::text, '-', '') from schedule_fire where schedule_id = '{id}' order by due_at desc limit 1"
        );
        made.insert(due.schedule, world.text(sql).await.unwrap().parse().unwrap());
    }
    made
}

async fn found(world: &World, tenant: TenantId, filter: TaskFilter, limit: u32) -> Vec<TaskId> {
    let scope = TenantScope::of_role(tenant);
    let tasks = find(&world.api, &scope, &filter, limit).await.unwrap();
    tasks.iter().map(|task| task.id).collect()
}

#[tokio::test]
async fn a_schedules_tasks_are_found_live_and_ended_newest_first_and_nobody_elses() {
    let world = World::new().await;
    let [tenant, other] = [world.tenant().await, world.tenant().await];
    let (mine, beside) =
        (due(&world, tenant, "s", None).await, due(&world, tenant, "t", None).await);
    let theirs = due(&world, other, "s", None).await;
    world.store(new_task(tenant)).await;
    let firing = Firing::begin(&world, TERM).await;
    let mut tasks = Vec::new();
    for _ in 0..6 {
        tasks.insert(0, fire(&world, &firing).await[&mine]);
    }
    let scope = TenantScope::of_role(tenant);
    let gone = [tasks[1], tasks[4]];
    transition::cancel_requested(&world.api, &scope, &gone, GRACE).await.unwrap();
    let of = |schedule| TaskFilter { schedule: Some(schedule), ..TaskFilter::default() };
    assert_eq!(found(&world, tenant, of(mine), 50).await, tasks);
    assert_eq!(found(&world, tenant, of(beside), 50).await.len(), 6);
    let first = found(&world, tenant, of(mine), 2).await;
    assert_eq!(first, tasks[..2]);
    let next = TaskFilter { before: Some(first[1]), ..of(mine) };
    assert_eq!(found(&world, tenant, next, 3).await, tasks[2..5]);
    let ended = TaskFilter { states: vec![State::Cancelled], ..of(mine) };
    assert_eq!(found(&world, tenant, ended, 50).await, gone);
    let live = TaskFilter { states: vec![State::Ready], ..of(mine) };
    assert_eq!(found(&world, tenant, live, 50).await.len(), 4);
    let both = TaskFilter { states: vec![State::Ready, State::Cancelled], ..of(mine) };
    assert_eq!(found(&world, tenant, both, 50).await, tasks);
    let named = TaskFilter { name: Some("none".to_owned()), ..of(mine) };
    assert_eq!(found(&world, tenant, named, 50).await, []);
    let kept = TaskFilter { ended_from: Some(runtime::clock::wall() + SECOND), ..of(mine) };
    assert_eq!(found(&world, tenant, kept, 50).await.len(), 4, "what ended before is not shown");
    assert_eq!(found(&world, tenant, of(theirs), 50).await, [], "another tenant's");
    let record = store::task::get(&world.api, &scope, tasks[1]).await.unwrap().unwrap();
    assert_eq!((record.schedule, record.state), (Some(mine), State::Cancelled));
    assert_eq!(schedule::find_id(&world.api, &scope, "s").await.unwrap(), Some(mine));
    assert_eq!(schedule::find_id(&world.api, &scope, "none").await.unwrap(), None);
}

#[tokio::test]
async fn a_fires_due_time_and_its_schedules_name_come_with_the_lease() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let mine = due(&world, tenant, "report", None).await;
    let firing = Firing::begin(&world, TERM).await;
    let task = fire(&world, &firing).await[&mine];
    let loose = world.store(NewTask { delay: None, ..new_task(tenant) }).await;
    let scope = TenantScope::of_role(tenant);
    let record = async |id| store::task::get(&world.api, &scope, id).await.unwrap().unwrap();
    let (made, beside) = (record(task).await, record(loose).await);
    assert!(made.due_at < made.run_at - Duration::from_secs(50), "it was due a minute ago");
    assert_eq!(made.schedule_name.as_deref(), Some("report"));
    assert_eq!((beside.due_at, beside.schedule_name.clone()), (beside.run_at, None));
    let (leader, owned) = runners(&world).await;
    let dispatched = world.dispatch(leader, &[(tenant, task), (tenant, loose)]).await;
    let placed = world.place_with_specs(owned, &dispatched).await;
    for record in [made, beside] {
        let placed = placed.iter().find(|placed| placed.lease.task == record.id).unwrap();
        let told = (placed.due_at, placed.schedule_name.as_deref());
        assert_eq!(told, (Some(record.due_at), record.schedule_name.as_deref()));
    }
}

/// Who hands out and who runs.
async fn runners(world: &World) -> (Leader, Owned) {
    (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await)
}

/// Ends tasks that are ready, in this order, each in a transaction of its own.
async fn end(
    world: &World,
    (leader, owned): (Leader, Owned),
    tasks: &[(TenantId, TaskId)],
    event: Event,
) {
    let placed = world.place(owned, &world.dispatch(leader, tasks).await).await;
    assert_eq!(placed.len(), tasks.len());
    for (_, task) in tasks {
        let lease = *placed.iter().find(|lease| lease.task == *task).unwrap();
        let told = [ended(lease, event)];
        match event {
            Event::Completed => transition::completed(&world.rm, &told).await.map(drop),
            Event::AttemptKilled => transition::attempt_killed(&world.rm, &told).await.map(drop),
            _ => transition::attempts_exhausted(&world.rm, &told).await.map(drop),
        }
        .unwrap();
    }
}

/// Counts all that has ended, twice over and at the same time, as two schedulers may.
async fn count(world: &World) -> Vec<PausedForFailures> {
    let mut paused = Vec::new();
    // Transactions of other tests in the same engine hold it up.
    while lag(&world.scheduler).await.unwrap().is_some() {
        let (one, other) =
            tokio::join!(count_ends(&world.scheduler, 5), count_ends(&world.scheduler, 5));
        paused.extend(one.unwrap().paused.into_iter().chain(other.unwrap().paused));
    }
    paused
}

#[tokio::test]
async fn the_last_of_enough_failures_in_a_row_pauses_its_schedule_once_and_says_so() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let id = due(&world, tenant, "weak", Some(3)).await;
    let never = due(&world, tenant, "never", None).await;
    let by = runners(&world).await;
    let firing = Firing::begin(&world, TERM).await;
    let get = async || schedule::get(&world.api, &scope, "weak").await.unwrap().unwrap();
    let mut last = None;
    // A success in between begins anew; what is cancelled says nothing.
    for (event, in_a_row) in [
        (Some(Event::AttemptsExhausted), 1),
        (Some(Event::AttemptKilled), 2),
        (Some(Event::Completed), 0),
        (Some(Event::AttemptsExhausted), 1),
        (None, 1),
        (Some(Event::AttemptKilled), 2),
    ] {
        let made = fire(&world, &firing).await;
        match event {
            Some(event) => end(&world, by, &[(tenant, made[&id])], event).await,
            None => {
                transition::cancel_requested(&world.api, &scope, &[made[&id]], GRACE)
                    .await
                    .unwrap();
            }
        }
        assert_eq!(count(&world).await, []);
        let record = get().await;
        assert_eq!((record.failures_in_row, record.paused), (in_a_row, None));
        last = Some(made);
    }
    assert!(last.is_some_and(|made| made.contains_key(&never)), "both fire");
    let made = fire(&world, &firing).await[&id];
    let version = get().await.version;
    end(&world, by, &[(tenant, made)], Event::AttemptsExhausted).await;
    let paused = count(&world).await;
    assert_eq!(
        paused,
        [PausedForFailures {
            schedule: id,
            tenant,
            name: "weak".to_owned(),
            failures: 3,
            last: Made::Task(made)
        }]
    );
    let record = get().await;
    let pause = record.paused.unwrap();
    assert_eq!((pause.by.to_string().as_str(), record.version), ("system", version + 1));
    let because = pause.because.unwrap();
    assert!(because.contains(&made.to_string()) && because.contains("`failed`"), "{because}");
    let told = "select detail ->> 'schedule' from task_event where kind = 'schedule_paused'";
    assert_eq!(world.text(told).await.as_deref(), Some("weak"));
    let audited = "select count(*) from audit where action = 'schedule.pause' and actor_kind = 'system' and target_id = 'weak'";
    assert_eq!(world.number(audited).await, 1);
    // Of the other, which never pauses, no event was written.
    let counted =
        "select count(distinct schedule_id) from task_event where schedule_id is not null";
    assert_eq!(world.number(counted).await, 1);
    let resumed = schedule::resume(&world.api, &scope, "weak").await.unwrap().unwrap();
    assert_eq!((resumed.failures_in_row, resumed.paused), (0, None), "it may fail as often again");
}

#[tokio::test]
async fn many_that_end_at_once_are_counted_in_the_order_in_which_they_ended() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let id = due(&world, tenant, "many", Some(4)).await;
    let by = runners(&world).await;
    let firing = Firing::begin(&world, TERM).await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        tasks.push((tenant, fire(&world, &firing).await[&id]));
    }
    // The newest first, and three of them before one that succeeds.
    tasks.reverse();
    end(&world, by, &tasks[..3], Event::AttemptsExhausted).await;
    end(&world, by, &tasks[3..4], Event::Completed).await;
    assert_eq!(count(&world).await, []);
    end(&world, by, &tasks[4..], Event::AttemptsExhausted).await;
    let paused = count(&world).await;
    assert_eq!(paused.len(), 1);
    assert_eq!((paused[0].failures, paused[0].last), (4, Made::Task(tasks[7].1)));
}
