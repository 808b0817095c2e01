//! Reading tasks: one, or pages, while they come and go.

use crate::support::{Put, World, ended, id_days_off, labels, new_session, new_task};
use chrono::TimeDelta;
use domain::epoch::Epoch;
use domain::id::{NodeId, TaskId, TenantId};
use domain::resources::Tier;
use domain::task::{Event, State, TaskSpec};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::TenantScope;
use store::task::submit::NewTask;
use store::task::{LabelFilter, TaskFilter, add_runs, find, get, transition};
use tokio::task::JoinSet;

async fn ids(world: &World, tenant: TenantId, filter: TaskFilter) -> Vec<TaskId> {
    let found = find(&world.api, &TenantScope::of_role(tenant), &filter, 100).await.unwrap();
    found.into_iter().map(|task| task.id).collect()
}

#[tokio::test]
async fn a_task_reads_the_same_alone_and_in_a_list_in_every_state() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let (scope, executor) = (TenantScope::of_role(tenant), new_session(owned.session).executor);
    for &state in State::ALL {
        let put = world.put(leader, owned, tenant, state).await;
        let alone = get(&world.api, &scope, put.task).await.unwrap().unwrap();
        let mut listed = find(&world.api, &scope, &TaskFilter::default(), 1).await.unwrap();
        assert_eq!(listed[0].run, None, "{state}");
        assert!(!add_runs(&world.api, &scope, &mut listed, 1 << 20).await.unwrap());
        assert_eq!(listed[..], *std::slice::from_ref(&alone), "{state}");
        assert_eq!(alone.state, state);
        assert_eq!(alone.finished_at.is_some(), state.is_terminal());
        assert_eq!(alone.executor.as_ref(), state.is_leased().then_some(&executor));
        let ran = put.dispatch.epoch > Epoch(0) && state != State::Queued;
        assert_eq!((alone.attempts, alone.started_at.is_some()), (u32::from(ran), ran), "{state}");
    }
    assert_eq!(get(&world.api, &scope, TaskId::fresh()).await.unwrap(), None);
}

#[tokio::test]
async fn each_filter_keeps_just_what_it_names() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut by_state: HashMap<State, Put> = HashMap::new();
    for &state in State::ALL {
        by_state.insert(state, world.put(leader, owned, tenant, state).await);
    }
    let mut labels = labels("team", "media");
    labels.insert("odd'key\"".to_owned(), "o'clock".to_owned());
    let marked = world
        .store(NewTask {
            name: Some("o'name".to_owned()),
            tier: None,
            resources: Tier::Premium.resources(),
            spec: TaskSpec { labels, ..new_task(tenant).spec },
            ..new_task(tenant)
        })
        .await;
    let premium = NewTask {
        tier: Some(Tier::Premium),
        resources: Tier::Premium.resources(),
        ..new_task(tenant)
    };
    let premium = world.store(premium).await;
    let all = TaskFilter::default;
    for state in State::ALL.iter().copied().filter(|state| *state != State::Ready) {
        assert_eq!(
            ids(&world, tenant, TaskFilter { states: vec![state], ..all() }).await,
            [by_state[&state].task],
            "{state}"
        );
    }
    let both = TaskFilter { states: vec![State::Running, State::Expired], ..all() };
    assert_eq!(
        ids(&world, tenant, both).await,
        [by_state[&State::Expired].task, by_state[&State::Running].task]
    );
    assert_eq!(
        ids(&world, tenant, TaskFilter { name: Some("o'name".to_owned()), ..all() }).await,
        [marked]
    );
    assert_eq!(
        ids(&world, tenant, TaskFilter { tier: Some(Tier::Premium), ..all() }).await,
        [premium]
    );
    for (key, value, found) in
        [("team", "media", 1), ("team", "medi", 0), ("odd'key\"", "o'clock", 1), ("none", "x", 0)]
    {
        let with = async |equal| {
            let (key, value) = (key.to_owned(), value.to_owned());
            let labels = vec![LabelFilter { key, value, equal }];
            ids(&world, tenant, TaskFilter { labels, ..all() }).await.len()
        };
        assert_eq!((with(true).await, with(false).await), (found, 15 - found), "{key}={value}");
    }
    let label = |key: &str, value: &str, equal| LabelFilter {
        key: key.to_owned(),
        value: value.to_owned(),
        equal,
    };
    for (other, found) in [
        (label("odd'key\"", "o'clock", true), 1),
        (label("odd'key\"", "o'clock", false), 0),
        (label("none", "x", false), 1),
        (label("none", "x", true), 0),
    ] {
        let labels = vec![label("team", "media", true), other];
        assert_eq!(ids(&world, tenant, TaskFilter { labels, ..all() }).await.len(), found);
    }
    assert_eq!(ids(&world, tenant, all()).await.len(), 15);
    assert_eq!(ids(&world, tenant, TaskFilter { before: Some(marked), ..all() }).await.len(), 13);
}

#[tokio::test]
async fn a_range_of_creation_includes_its_start_and_excludes_its_end() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let mut tasks = Vec::new();
    let now = runtime::clock::wall();
    let day = |days: i64| Some(now - TimeDelta::days(days));
    for days in [3, 2, 1, 0] {
        let id = id_days_off(-days);
        world.store(NewTask { id, ..new_task(tenant) }).await;
        let at = day(days).unwrap().to_rfc3339();
        world
            .sql(format!("update task_spec set created_at = '{at}' where id = '{}'", id.uuid()))
            .await;
        tasks.push(id);
    }
    let list = async |created_from, created_before| {
        ids(&world, tenant, TaskFilter { created_from, created_before, ..TaskFilter::default() })
            .await
    };
    // The database keeps microseconds.
    let just_before = |days| day(days).map(|at| at - TimeDelta::microseconds(1));
    assert_eq!(list(just_before(2), None).await, [tasks[3], tasks[2], tasks[1]]);
    assert_eq!(list(just_before(2), just_before(1)).await, [tasks[1]]);
    assert_eq!(list(None, just_before(1)).await, [tasks[1], tasks[0]]);
    assert_eq!(list(day(9), day(-1)).await.len(), 4);
    assert!(list(day(-1), None).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_meets_each_old_row_once_while_others_come_and_end() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut old: HashSet<TaskId> = HashSet::new();
    let mut running = Vec::new();
    for _ in 0..4 {
        let leases = world.run(leader, owned, tenant, 250).await;
        old.extend(leases.iter().map(|lease| lease.task));
        running.extend(leases);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut churn = JoinSet::new();
    let (ender, enders_stop) = (Arc::clone(&world), Arc::clone(&stop));
    churn.spawn(async move {
        for some in crate::support::Shuffle::new(5).some(&running, running.len()).chunks(7) {
            let told: Vec<_> = some.iter().map(|lease| ended(*lease, Event::Completed)).collect();
            transition::completed(&ender.rm, &told).await.unwrap();
        }
        enders_stop.store(true, Ordering::Relaxed);
    });
    let (writer, writers_stop) = (Arc::clone(&world), Arc::clone(&stop));
    churn.spawn(async move {
        while !writers_stop.load(Ordering::Relaxed) {
            writer.store_ready(tenant, 3).await;
        }
    });
    let scope = TenantScope::of_role(tenant);
    let mut walks = 0;
    while !stop.load(Ordering::Relaxed) || walks == 0 {
        let mut seen = HashMap::new();
        let mut filter = TaskFilter::default();
        loop {
            let page = find(&world.api, &scope, &filter, 37).await.unwrap();
            for task in &page {
                *seen.entry(task.id).or_insert(0) += 1;
            }
            let Some(last) = page.last() else { break };
            filter.before = Some(last.id);
        }
        assert!(seen.values().all(|times| *times == 1));
        assert!(old.iter().all(|task| seen.contains_key(task)));
        walks += 1;
    }
    churn.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_found_at_any_moment_of_its_end() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let scope = TenantScope::of_role(tenant);
    for _ in 0..25 {
        let lease = world.run(leader, owned, tenant, 1).await[0];
        let mut readers = JoinSet::new();
        for _ in 0..4 {
            let world = Arc::clone(&world);
            readers.spawn(async move {
                let mut ended = false;
                while !ended {
                    let task = get(&world.api, &scope, lease.task).await.unwrap();
                    ended = task.expect("a task is never missing").state.is_terminal();
                }
            });
        }
        runtime::clock::sleep(Duration::from_millis(4)).await;
        transition::completed(&world.rm, &[ended(lease, Event::Completed)]).await.unwrap();
        readers.join_all().await;
    }
}
