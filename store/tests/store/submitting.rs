//! What is stored on submit: times by the database's clock, one answer a row in order, all of it or nothing.

use crate::support::{World, labels, new_task};
use chrono::TimeDelta;
use domain::batch::{Conditions, Priority, Strand};
use domain::resources::Resources;
use domain::task::{Delivery, DriverName, RetryPolicy, State, TaskSpec};
use std::time::Duration;
use store::task::submit::{Created, NewTask, SubmitAnswer, insert};
use store::task::{self, TaskRecord};
use store::{StoreError, TenantScope};

fn created(answer: &SubmitAnswer) -> Created {
    let SubmitAnswer::Created(created) = answer else { panic!("{answer:?}") };
    *created
}

/// One of each kind: with all fields, delayed, at a time, with and without a guard.
fn some_of_each(tenant: domain::id::TenantId) -> Vec<NewTask> {
    let now = runtime::clock::wall();
    let full = NewTask {
        name: None,
        tier: None,
        resources: Resources { cpu_millis: 1, memory_mib: 2, disk_mib: 3, iops: 4, ports: 5 },
        execution_cap: Duration::from_millis(1),
        max_attempts: 9,
        priority: Priority::new(-10).unwrap(),
        flexible: true,
        concurrency_key: Some("exports/größe".parse().unwrap()),
        spec: TaskSpec {
            retry: Some(RetryPolicy { max: Duration::from_secs(1), ..RetryPolicy::default() }),
            labels: labels("team", "media"),
            ..new_task(tenant).spec
        },
        delivery: Delivery::AtMostOnce,
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        ..new_task(tenant)
    };
    vec![
        full,
        NewTask { delay: Some(Duration::from_secs(10)), ..new_task(tenant) },
        NewTask { run_at: Some(now + TimeDelta::hours(1)), ..new_task(tenant) },
        NewTask {
            run_at: Some(now - TimeDelta::hours(1)),
            expire_if_late: true,
            ..new_task(tenant)
        },
        NewTask { delay: Some(Duration::ZERO), ..new_task(tenant) },
        NewTask { delay: Some(Duration::from_millis(1)), expire_if_late: true, ..new_task(tenant) },
    ]
}

#[tokio::test]
async fn what_is_answered_is_what_is_stored_guarded_or_not() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    for guarded in [false, true] {
        let mut tasks = some_of_each(tenant);
        if guarded {
            tasks[1].unique_key = Some("one".to_owned());
        }
        let answers = insert(&world.submit, &tasks).await.unwrap();
        let states: Vec<_> = answers.iter().map(|answer| created(answer).state).collect();
        use State::{Ready, Scheduled};
        assert_eq!(states, [Ready, Scheduled, Scheduled, Ready, Ready, Scheduled]);
        for (task, answer) in tasks.iter().zip(&answers) {
            let told = TaskRecord::created(task, &created(answer));
            let stored = task::get(&world.api, &scope, task.id).await.unwrap().unwrap();
            assert_eq!(stored, told, "guarded: {guarded}");
        }
    }
}

#[tokio::test]
async fn a_delay_counts_from_the_databases_time_and_the_wake_up_fits_the_task() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = some_of_each(tenant);
    let answers = insert(&world.submit, &tasks).await.unwrap();
    let delayed = created(&answers[1]);
    assert_eq!(delayed.run_at - delayed.created_at, TimeDelta::seconds(10));
    assert_eq!(delayed.start_deadline - delayed.run_at, TimeDelta::seconds(300));
    let wakes = async |at: usize, column: &str| {
        let id = tasks[at].id.uuid();
        world.number(format!("select (wake_at is not distinct from {column})::integer::bigint from task where id = '{id}'")).await
    };
    let expected = ["null", "run_at", "run_at", "start_deadline", "null", "run_at"];
    for (at, column) in expected.into_iter().enumerate() {
        assert_eq!(wakes(at, column).await, 1, "task {at}: {column}");
    }
}

#[tokio::test]
async fn tasks_of_the_same_conditions_are_a_strand_and_of_the_same_name_are_told_so() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    for guarded in [false, true] {
        let mut tasks = some_of_each(tenant);
        tasks[1].name = Some("another".to_owned());
        if guarded {
            tasks[1].unique_key = Some("one".to_owned());
        }
        insert(&world.submit, &tasks).await.unwrap();
        let mut names = Vec::new();
        for task in &tasks {
            let strand = Strand::of(Conditions {
                resources: task.resources,
                priority: task.priority,
                flexible: task.flexible,
                expire_if_late: task.expire_if_late,
                tolerance: task.delay_tolerance,
                key: task.concurrency_key.as_ref(),
                driver: DriverName::try_from(&task.spec.run).ok(),
            });
            let of = |columns: &str, table: &str| {
                format!("select {columns} from {table} where id = '{}'", task.id.uuid())
            };
            assert_eq!(world.number(of("strand", "task")).await, strand.0);
            names.push(world.number(of("name_key", "task")).await);
            let kept = "concat_ws(' ', priority, flexible, concurrency_key)";
            let (live, spec) = (of(kept, "task"), of(kept, "task_spec"));
            assert_eq!(world.text(live).await, world.text(spec).await);
        }
        assert_eq!(names[0], 0, "without a name");
        assert!(
            names[1] != names[2] && names[2..].iter().all(|name| *name == names[2]),
            "{names:?}"
        );
    }
}

#[tokio::test]
async fn one_bad_row_stores_nothing_of_its_slice() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let good = |_| new_task(tenant);
    let spec = TaskSpec { labels: labels("a", "a NUL \0"), ..new_task(tenant).spec };
    let bad = [
        NewTask { spec, ..new_task(tenant) },
        NewTask { key_id: "a NUL \0".to_owned(), ..new_task(tenant) },
        NewTask { execution_cap: Duration::ZERO, ..new_task(tenant) },
        NewTask { max_attempts: 0, ..new_task(tenant) },
        NewTask { delay: Some(Duration::MAX), ..new_task(tenant) },
    ];
    for bad in bad {
        for guarded in [None, Some("one".to_owned())] {
            let mut tasks: Vec<_> = (0..3).map(good).collect();
            tasks[0].unique_key = guarded;
            tasks.push(bad.clone());
            let error = insert(&world.submit, &tasks).await.unwrap_err();
            assert!(matches!(error, StoreError::Database(_)), "{error:?}");
            assert!(!error.is_retryable());
        }
    }
    world.check_promises(0).await;
    assert_eq!(world.number("select count(*) from task_spec").await, 0);
}

#[tokio::test]
async fn the_same_id_twice_is_refused_whole() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let task = new_task(tenant);
    insert(&world.submit, std::slice::from_ref(&task)).await.unwrap();
    insert(&world.submit, &[new_task(tenant), task]).await.unwrap_err();
    world.check_promises(1).await;
}

#[tokio::test]
async fn tasks_of_many_tenants_go_in_together_each_to_its_own() {
    let world = World::new().await;
    let mut tasks = Vec::new();
    for _ in 0..5 {
        let tenant = world.tenant().await;
        tasks.extend((0..4).map(|_| new_task(tenant)));
    }
    insert(&world.submit, &tasks).await.unwrap();
    for task in &tasks {
        let stored =
            task::get(&world.api, &TenantScope::of_role(task.tenant), task.id).await.unwrap();
        assert_eq!(stored.map(|stored| stored.tenant), Some(task.tenant));
    }
}
