//! Levers of one task: each does what the table in `domain` says for its state, once, with its row of the audit, or leaves nothing.

use crate::support::{Leader, Owned, World, labels, new_task};
use domain::audit::AuditAction;
use domain::batch::Priority;
use domain::id::{NodeId, TaskId, TenantId};
use domain::task::{CommandRun, Effect, Lever, Refusal, Run, State};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::idempotency::{IdempotencyKey, Once};
use store::task::TaskRecord;
use store::task::lever::{
    ChangeAnswer, LeverAnswer, Pull, PulledLever, TaskChange, change, pull, rerun,
};
use store::task::submit::{NewTask, SubmitAnswer};
use store::task::transition;
use tokio::task::JoinSet;

const HOUR: Duration = Duration::from_secs(3600);
const PULLED: [PulledLever<'static>; 3] =
    [PulledLever::Retry, PulledLever::RunNow, PulledLever::MarkSucceeded { note: "by hand" }];

fn lever_of(pulled: PulledLever<'_>) -> Lever {
    match pulled {
        PulledLever::Retry => Lever::Retry,
        PulledLever::RunNow => Lever::RunNow,
        PulledLever::MarkSucceeded { .. } => Lever::MarkSucceeded,
    }
}

async fn runners(world: &World) -> (Leader, Owned) {
    (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await)
}

async fn pulled(
    world: &World,
    tenant: TenantId,
    task: TaskId,
    lever: PulledLever<'_>,
) -> LeverAnswer {
    let scope = TenantScope::of_role(tenant);
    let asked = Pull { task, lever, once: None };
    match pull(&world.api, &scope, asked, |_| Vec::new()).await.unwrap() {
        Once::Done(answer) => answer,
        other => panic!("{other:?}"),
    }
}

async fn read(world: &World, tenant: TenantId, task: TaskId) -> TaskRecord {
    store::task::get(&world.api, &TenantScope::of_role(tenant), task).await.unwrap().unwrap()
}

async fn audited(world: &World, task: TaskId) -> Option<String> {
    world
        .text(format!(
            "select string_agg(action, ' ' order by at) from audit where target_kind = 'task' and target_id = '{task}'"
        ))
        .await
}

/// A task that is due in an hour.
async fn later(world: &World, tenant: TenantId) -> TaskId {
    world.store(NewTask { delay: Some(HOUR), ..new_task(tenant) }).await
}

#[tokio::test]
async fn each_lever_does_in_each_state_what_the_table_says_and_is_audited_where_it_moves() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = runners(&world).await;
    for lever in PULLED {
        for &state in State::ALL {
            let put = world.put(leader, owned, tenant, state).await;
            let all = world.fingerprint(None).await;
            let answer = pulled(&world, tenant, put.task, lever).await;
            let (name, effect) = (lever_of(lever).as_str(), Effect::of(lever_of(lever), state));
            let what = format!("{name} in {state}: {answer:?}");
            let moved = match (effect, &answer) {
                (Ok(Effect::DueNow), LeverAnswer::Done(task)) => task.state == State::Ready,
                (Ok(Effect::Succeeds), LeverAnswer::Done(task)) => task.state == State::Succeeded,
                (Ok(Effect::Nothing), LeverAnswer::Nothing(task)) => {
                    assert_eq!(task.state, state, "{what}");
                    false
                }
                (Ok(Effect::NewTask), LeverAnswer::NewTask) => false,
                (Err(wanted), LeverAnswer::Refused(refusal)) if wanted == *refusal => false,
                _ => panic!("{what}"),
            };
            let action = match lever {
                PulledLever::Retry => AuditAction::TaskRetry,
                PulledLever::RunNow => AuditAction::TaskRunNow,
                PulledLever::MarkSucceeded { .. } => AuditAction::TaskMarkSucceeded,
            };
            let wanted = moved.then(|| action.to_string());
            assert_eq!(audited(&world, put.task).await, wanted, "{what}");
            assert_eq!(world.fingerprint(None).await == all, !moved, "{what}");
        }
    }
    let nobodys = pulled(&world, tenant, TaskId::fresh(), PulledLever::RunNow).await;
    assert_eq!(nobodys, LeverAnswer::NotFound);
    let theirs = later(&world, world.tenant().await).await;
    assert_eq!(pulled(&world, tenant, theirs, PulledLever::RunNow).await, LeverAnswer::NotFound);
    world.check_promises(3 * State::ALL.len() + 1).await;
}

#[tokio::test]
async fn a_task_that_runs_now_keeps_its_tolerance_and_what_it_is_for() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let task = NewTask { delay: Some(HOUR), expire_if_late: true, ..new_task(tenant) };
    let id = world.store(task).await;
    let before = read(&world, tenant, id).await;
    let LeverAnswer::Done(after) = pulled(&world, tenant, id, PulledLever::RunNow).await else {
        panic!()
    };
    assert_eq!(after.delay_tolerance, before.delay_tolerance);
    assert_eq!((after.due_at, after.version), (before.due_at, 1));
    assert!(after.run_at < before.run_at - chrono::TimeDelta::minutes(50));
    let wakes = format!(
        "select (wake_at = start_deadline)::int::bigint from task where id = '{}'",
        id.uuid()
    );
    assert_eq!(world.number(wakes).await, 1, "it may still expire");
    let (leader, owned) = runners(&world).await;
    let placed = world.place(owned, &world.dispatch(leader, &[(tenant, id)]).await).await;
    assert_eq!(placed.len(), 1);
}

#[tokio::test]
async fn what_is_marked_ends_with_its_note_without_an_attempt_and_its_schedule_hears_of_it() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let id = later(&world, tenant).await;
    let sql = format!("update task set counted_by = gen_random_uuid() where id = '{}'", id.uuid());
    world.sql(sql).await;
    let lever = PulledLever::MarkSucceeded { note: "loaded by hand" };
    assert!(matches!(pulled(&world, tenant, id, lever).await, LeverAnswer::Done(_)));
    let ended = read(&world, tenant, id).await;
    assert_eq!(ended.reason.as_deref(), Some("marked as succeeded: loaded by hand"));
    assert!(ended.finished_at.is_some() && ended.attempts == 0 && ended.exit_code.is_none());
    assert_eq!(world.number("select count(*) from attempt").await, 0);
    let event = "select state || ' ' || (schedule_id is not null)::text from task_event";
    assert_eq!(world.text(event).await.as_deref(), Some("succeeded true"));
    let note = "select after ->> 'note' from audit where action = 'task.mark_succeeded'";
    assert_eq!(world.text(note).await.as_deref(), Some("loaded by hand"));
}

#[tokio::test]
async fn with_a_key_a_lever_is_pulled_once_and_what_is_refused_leaves_no_key() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let id = later(&world, tenant).await;
    let key = |hash: u8| IdempotencyKey {
        route: "POST /x".to_owned(),
        key: "k".to_owned(),
        body_hash: [hash; 32],
    };
    let asked = async |lever, key: &IdempotencyKey| {
        let asked = Pull { task: id, lever, once: Some(key) };
        let kept = |task: &TaskRecord| task.state.to_string().into_bytes();
        pull(&world.api, &scope, asked, kept).await.unwrap()
    };
    let refused = Once::Done(LeverAnswer::Refused(Refusal::Waiting));
    assert_eq!(asked(PulledLever::Retry, &key(1)).await, refused);
    assert_eq!(world.number("select count(*) from idempotency").await, 0);
    assert!(matches!(asked(PulledLever::RunNow, &key(1)).await, Once::Done(LeverAnswer::Done(_))));
    let again = Once::Replayed { status: 200, body: b"ready".to_vec() };
    assert_eq!(asked(PulledLever::RunNow, &key(1)).await, again);
    assert_eq!(asked(PulledLever::RunNow, &key(2)).await, Once::KeyReused);
    assert_eq!(audited(&world, id).await.as_deref(), Some("task.run_now"));
}

#[tokio::test]
async fn a_lever_that_fails_once_leaves_nothing_and_then_works() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (leader, owned) = runners(&world).await;
    let id = later(&world, tenant).await;
    let retrying = world.put(leader, owned, tenant, State::Retrying).await.task;
    let wanted = NewTask { priority: Priority::new(3).unwrap(), ..new_task(tenant) };
    let fields = TaskChange::between(&read(&world, tenant, id).await, &wanted);
    let all = world.fingerprint(None).await;
    // The last statement of each before its commit.
    world.sql("alter table audit add constraint fails check (target_kind <> 'task')").await;
    for (task, lever) in [(id, PULLED[1]), (id, PULLED[2]), (retrying, PULLED[0])] {
        let asked = Pull { task, lever, once: None };
        assert!(pull(&world.api, &scope, asked, |_| Vec::new()).await.is_err(), "{lever:?}");
    }
    assert!(change(&world.api, &scope, (id, 1), &fields).await.is_err());
    let again = NewTask { rerun_of: Some(id), ..new_task(tenant) };
    assert!(rerun(&world.submit, &scope, (id, AuditAction::TaskRerun), &again).await.is_err());
    assert_eq!(world.fingerprint(None).await, all);
    world.sql("alter table audit drop constraint fails").await;
    let changed = change(&world.api, &scope, (id, 1), &fields).await.unwrap();
    assert!(matches!(changed, ChangeAnswer::Changed(_)), "{changed:?}");
    for (task, lever) in [(id, PULLED[1]), (id, PULLED[2]), (retrying, PULLED[0])] {
        assert!(
            matches!(pulled(&world, tenant, task, lever).await, LeverAnswer::Done(_)),
            "{lever:?}"
        );
    }
    let made = rerun(&world.submit, &scope, (id, AuditAction::TaskRerun), &again).await.unwrap();
    assert!(matches!(made, SubmitAnswer::Created(_)), "{made:?}");
    assert_eq!(
        audited(&world, id).await.as_deref(),
        Some("task.change task.run_now task.mark_succeeded task.rerun")
    );
    world.check_promises(3).await;
}

/// A command, with this value in its environment.
fn command(tenant: TenantId, value: &str) -> NewTask {
    let env = BTreeMap::from([("A".to_owned(), value.to_owned())]);
    let mut task = new_task(tenant);
    task.spec.run = Run::Command(CommandRun { argv: vec!["a".to_owned()], env, stdin: None });
    task
}

/// What changes everything that may change, but the time.
fn all_fields(before: &TaskRecord) -> (NewTask, TaskChange) {
    let mut wanted = command(before.tenant, "2");
    wanted.spec.labels = labels("team", "media");
    wanted.delay_tolerance = Duration::from_secs(60);
    wanted.execution_cap = Duration::from_secs(90);
    wanted.priority = Priority::new(-3).unwrap();
    wanted.max_attempts = 7;
    let change = TaskChange::between(before, &wanted);
    (wanted, change)
}

#[tokio::test]
async fn a_change_is_what_is_read_placed_and_counted_and_the_rest_stays() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let id = world.store(command(tenant, "1")).await;
    let before = read(&world, tenant, id).await;
    let (wanted, fields) = all_fields(&before);
    let ChangeAnswer::Changed(after) = change(&world.api, &scope, (id, 1), &fields).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(*after, read(&world, tenant, id).await);
    let expected = TaskRecord {
        run: Some(wanted.spec.run.clone()),
        labels: wanted.spec.labels.clone(),
        delay_tolerance: wanted.delay_tolerance,
        start_deadline: before.run_at + wanted.delay_tolerance,
        execution_cap: wanted.execution_cap,
        priority: wanted.priority,
        max_attempts: 7,
        version: 2,
        ..before.clone()
    };
    assert_eq!(*after, expected);
    assert!(TaskChange::between(&after, &wanted).is_empty(), "the same again changes nothing");
    // The strand is that of a task that was submitted so.
    let twin = world.store(wanted.clone()).await;
    let strands = format!(
        "select count(distinct (strand, priority, cap_ms, max_attempts)) from task where id in ('{}', '{}')",
        id.uuid(),
        twin.uuid()
    );
    assert_eq!(world.number(strands).await, 1);
    let stale = change(&world.api, &scope, (id, 1), &fields).await.unwrap();
    assert_eq!(stale, ChangeAnswer::VersionMismatch { version: 2 });
    let (leader, owned) = runners(&world).await;
    let dispatched = world.dispatch(leader, &[(tenant, id)]).await;
    let placed = world.place_with_specs(owned, &dispatched).await;
    assert_eq!(placed[0].run.known(), Some(&wanted.spec.run));
    assert_eq!((placed[0].cap, placed[0].max_attempts), (wanted.execution_cap, 7));
    let late = change(&world.api, &scope, (id, 2), &fields).await.unwrap();
    assert_eq!(late, ChangeAnswer::Refused(Refusal::Running));
}

#[tokio::test]
async fn a_change_of_the_time_moves_a_task_as_the_table_says_and_it_is_due_then() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (leader, owned) = runners(&world).await;
    let delayed = |before: &TaskRecord, delay| {
        TaskChange::between(before, &NewTask { delay: Some(delay), ..new_task(tenant) })
    };
    for &state in State::ALL {
        for (delay, later) in [(HOUR, true), (Duration::ZERO, false)] {
            let put = world.put(leader, owned, tenant, state).await;
            let before = read(&world, tenant, put.task).await;
            let fields = delayed(&before, delay);
            let answer = change(&world.api, &scope, (put.task, 1), &fields).await.unwrap();
            let what = format!("{state} {delay:?}: {answer:?}");
            let wanted = match Effect::of(Lever::Change, state) {
                Err(refusal) => {
                    assert_eq!(answer, ChangeAnswer::Refused(refusal), "{what}");
                    assert_eq!(read(&world, tenant, put.task).await, before, "{what}");
                    continue;
                }
                Ok(_) if !later => State::Ready,
                Ok(_) if state == State::Retrying => State::Retrying,
                Ok(_) => State::Scheduled,
            };
            let ChangeAnswer::Changed(after) = answer else { panic!("{what}") };
            assert_eq!((after.state, after.version), (wanted, 2), "{what}");
            assert_eq!(after.run_at > before.run_at + chrono::TimeDelta::minutes(50), later);
            assert_eq!(after.delay_tolerance, before.delay_tolerance, "{what}");
            // What was first due at another time is for that time; a retry is not.
            assert_eq!(after.due_at == after.run_at, before.attempts == 0, "{what}");
            assert_eq!(transition::due(&world.scheduler, &[(tenant, put.task)]).await.unwrap(), 0);
            if state == State::Queued {
                assert!(world.place(owned, &[put.dispatch]).await.is_empty(), "an old hint");
            }
            if later {
                let id = put.task.uuid();
                world
                    .sql(format!("update task set run_at = now(), wake_at = now() where id = '{id}' and wake_at = run_at"))
                    .await;
                let due = transition::due(&world.scheduler, &[(tenant, put.task)]).await;
                assert_eq!(due.unwrap(), 1, "{what}");
            }
        }
    }
    world.check_promises(2 * State::ALL.len()).await;
}

#[tokio::test]
async fn no_fewer_attempts_than_have_failed() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (leader, owned) = runners(&world).await;
    let put = world.put(leader, owned, tenant, State::Retrying).await;
    let before = read(&world, tenant, put.task).await;
    let most =
        |max_attempts| TaskChange::between(&before, &NewTask { max_attempts, ..new_task(tenant) });
    let few = change(&world.api, &scope, (put.task, 1), &most(1)).await.unwrap();
    assert_eq!(few, ChangeAnswer::TooFewAttempts { failures: 1 });
    let enough = change(&world.api, &scope, (put.task, 1), &most(2)).await.unwrap();
    assert!(matches!(enough, ChangeAnswer::Changed(_)), "{enough:?}");
}

#[tokio::test]
async fn a_held_retry_that_got_another_time_is_not_let_go() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (leader, owned) = runners(&world).await;
    let leases = world.run(leader, owned, tenant, 2).await;
    let held = |lease| transition::FailedAttempt {
        ended: crate::support::ended(lease, domain::task::Event::AttemptFailed),
        retry_after: HOUR,
        held: Some(store::held_retry::HeldRetry {
            target: "http://a".into(),
            back_off: Duration::ZERO,
        }),
    };
    let failed: Vec<_> = leases.iter().map(|lease| held(*lease)).collect();
    transition::attempt_failed(&world.rm, &failed).await.unwrap();
    let task = leases[0].task;
    let before = read(&world, tenant, task).await;
    let wanted = NewTask { delay: Some(2 * HOUR), ..new_task(tenant) };
    let fields = TaskChange::between(&before, &wanted);
    change(&world.api, &scope, (task, 1), &fields).await.unwrap();
    let key = domain::budget::TargetKey { tenant, target: "http://a".into() };
    let gone = store::held_retry::let_go(&world.rm, &[(key, 10)]).await.unwrap();
    assert_eq!((gone[0].found, gone[0].gone), (2, 1));
    let left = read(&world, tenant, task).await;
    assert!(left.run_at > before.run_at, "it waits for the time that its owner gave");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_change_one_version_one_does_and_no_attempt_starts_with_the_old_fields() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let (leader, owned) = runners(&world).await;
    for round in 0..40 {
        let id = world.store(command(tenant, "1")).await;
        let before = read(&world, tenant, id).await;
        let dispatched = world.dispatch(leader, &[(tenant, id)]).await;
        let mut rivals = JoinSet::new();
        for priority in [1, 2] {
            let (world, before) = (Arc::clone(&world), before.clone());
            rivals.spawn(async move {
                let (mut wanted, _) = all_fields(&before);
                wanted.priority = Priority::new(priority).unwrap();
                let fields = TaskChange::between(&before, &wanted);
                let scope = TenantScope::of_role(tenant);
                change(&world.api, &scope, (id, 1), &fields).await.unwrap()
            });
        }
        let placed = world.place_with_specs(owned, &dispatched).await;
        let answers = rivals.join_all().await;
        let changed = answers.iter().filter(|a| matches!(a, ChangeAnswer::Changed(_))).count();
        assert!(changed + placed.len() == 1, "{round}: {answers:?} {placed:?}");
        let after = read(&world, tenant, id).await;
        assert_eq!(after.version, 1 + i64::try_from(changed).unwrap());
        if changed == 1 {
            assert!(answers.contains(&ChangeAnswer::VersionMismatch { version: 2 }));
            assert_eq!(after.state, State::Ready, "{round}");
        } else {
            assert_eq!(after.run, before.run);
        }
    }
    assert_eq!(world.deadlocks().await, 0);
}
