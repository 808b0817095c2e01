//! Tasks that wait for others: whatever ends first, and whoever ends it, each child starts once or is skipped, as the reference says.

use crate::support::{Leader, Owned, Shuffle, World, ended, new_task};
use domain::dependency::{Condition, Dependencies, Edge, Join};
use domain::id::{NodeId, TaskId, TenantId};
use domain::task::{Event, LeaseKey, State};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::task::lever::{self, ChangeAnswer, TaskChange};
use store::task::submit::{BatchAnswer, NewTask, SubmitAnswer, insert, insert_batch};
use store::task::transition::{self, DoomedTask, TransitionResult};
use store::task::{TaskRecord, due_for_a_look};
use testkit::graphs::{self, Needs, Node, Numbers};
use testkit::settings::rounds;
use tokio::task::JoinSet;

const GRACE: Duration = Duration::from_secs(40);

fn after(tenant: TenantId, edges: &[(TaskId, Condition)], join: Join) -> NewTask {
    let edges = edges.iter().map(|(parent, on)| Edge { parent: *parent, on: *on }).collect();
    NewTask { depends_on: Some(Dependencies { edges, join }), ..new_task(tenant) }
}

fn child_of(tenant: TenantId, parents: &[TaskId]) -> NewTask {
    let edges: Vec<_> = parents.iter().map(|id| (*id, Condition::Succeeded)).collect();
    after(tenant, &edges, Join::All)
}

/// The graph as tasks: their ids are in the order of their places.
fn tasks_of(tenant: TenantId, graph: &[Node]) -> Vec<NewTask> {
    let ids: Vec<TaskId> = graph.iter().map(|_| TaskId::fresh()).collect();
    let task = |(place, node): (usize, &Node)| {
        let edges: Vec<_> = node
            .parents
            .iter()
            .map(|(parent, wanted)| (ids[*parent], wanted.word().parse().unwrap()))
            .collect();
        let join = match node.needs {
            Needs::All => Join::All,
            Needs::Any => Join::Any,
            Needs::AtLeast(wanted) => Join::AtLeast(u32::try_from(wanted).unwrap()),
        };
        let task = if edges.is_empty() { new_task(tenant) } else { after(tenant, &edges, join) };
        NewTask { id: ids[place], ..task }
    };
    graph.iter().enumerate().map(task).collect()
}

impl World {
    async fn put_in(&self, tenant: TenantId, tasks: &[NewTask]) -> BatchAnswer {
        let scope = TenantScope::of_role(tenant);
        insert_batch(&self.submit, &scope, None, tasks, |_| Vec::new()).await.unwrap()
    }

    /// The tenant's tasks in `state`.
    async fn in_state(&self, tenant: TenantId, state: State) -> Vec<(TenantId, TaskId)> {
        let ids = format!(
            "select string_agg(id::text, ',' order by id) from task where tenant_id = '{}' and state = '{state}'",
            tenant.uuid()
        );
        let ids = self.text(ids).await.unwrap_or_default();
        let id = |id: &str| (tenant, TaskId(uuid::Uuid::parse_str(id).unwrap()));
        ids.split(',').filter(|id| !id.is_empty()).map(id).collect()
    }

    /// What a scheduler's ticks do: pieces of releases, tasks that are due (one that was stored after the transaction began that
    /// released it is due later than that), and tasks that are to be skipped. Says whether there was anything.
    async fn tick(&self) -> bool {
        let piece = transition::released(&self.scheduler).await.unwrap();
        let woken = due_for_a_look(&self.scheduler, 1000).await.unwrap();
        let keys: Vec<_> = woken.iter().map(|woken| (woken.tenant, woken.task)).collect();
        let due = transition::due(&self.scheduler, &keys).await.unwrap();
        let doomed = woken.iter().filter_map(|woken| {
            let parent = woken.doomed_by?;
            Some(DoomedTask { tenant: woken.tenant, task: woken.task, parent })
        });
        let doomed: Vec<_> = doomed.collect();
        let skipped = transition::skipped(&self.scheduler, &doomed).await.unwrap();
        piece.parents > 0 || due > 0 || skipped > 0
    }

    /// Ticks until nothing is left to do.
    async fn settle_down(&self) {
        while self.tick().await {}
    }

    async fn lease(
        &self,
        leader: Leader,
        owned: Owned,
        tasks: &[(TenantId, TaskId)],
    ) -> Vec<LeaseKey> {
        let leases = self.place(owned, &self.dispatch(leader, tasks).await).await;
        assert_eq!(leases.len(), tasks.len());
        leases
    }

    async fn complete(&self, leases: &[LeaseKey]) -> Vec<TransitionResult> {
        let told: Vec<_> = leases.iter().map(|lease| ended(*lease, Event::Completed)).collect();
        transition::completed(&self.rm, &told).await.unwrap()
    }

    async fn cancel_all(&self, tenant: TenantId, tasks: &[TaskId]) {
        let scope = TenantScope::of_role(tenant);
        transition::cancel_requested(&self.api, &scope, tasks, GRACE).await.unwrap();
    }

    async fn nothing_is_left(&self) {
        for table in ["task", "task_edge", "task_release"] {
            assert_eq!(self.number(format!("select count(*) from {table}")).await, 0, "{table}");
        }
    }

    async fn record(&self, tenant: TenantId, id: TaskId) -> TaskRecord {
        let scope = TenantScope::of_role(tenant);
        store::task::get(&self.api, &scope, id).await.unwrap().unwrap()
    }
}

/// Ends a leased task as it is fated to.
async fn end(world: &World, lease: LeaseKey, fate: State) {
    let told = |event| [ended(lease, event)];
    let answers = match fate {
        State::Succeeded => transition::completed(&world.rm, &told(Event::Completed)).await,
        State::Failed => {
            transition::attempts_exhausted(&world.rm, &told(Event::AttemptsExhausted)).await
        }
        State::Aborted => {
            transition::attempt_aborted(&world.rm, &told(Event::AttemptAborted)).await
        }
        State::Killed => transition::attempt_killed(&world.rm, &told(Event::AttemptKilled)).await,
        State::Cancelled => {
            world.cancel_all(lease.tenant, &[lease.task]).await;
            transition::stopped(&world.rm, &told(Event::Stopped)).await
        }
        other => panic!("{other}"),
    };
    assert_eq!(answers.unwrap()[0].moved_to(), Some(fate));
}

const FATES: [State; 4] = [State::Failed, State::Aborted, State::Killed, State::Cancelled];

#[tokio::test(flavor = "multi_thread")]
async fn random_graphs_end_as_the_reference_says() {
    let world = Arc::new(World::new().await);
    let node = NodeId::fresh();
    let mut submitted = 0;
    for seed in 1..=rounds(25, 1000) as u64 {
        let tenant = world.tenant().await;
        let (leader, owned) = (world.lead(node).await, world.open(NodeId::fresh()).await);
        let (mut numbers, mut shuffle) = (Numbers::new(seed), Shuffle::new(seed));
        let nodes = 5 + numbers.below(if seed % 5 == 0 { rounds(200, 396) } else { 40 });
        let graph = graphs::random(&mut numbers, nodes, &FATES);
        let tasks = tasks_of(tenant, &graph);
        assert!(matches!(world.put_in(tenant, &tasks).await, BatchAnswer::Fresh(_)));
        submitted += tasks.len();
        let fates: HashMap<TaskId, State> =
            tasks.iter().zip(&graph).map(|(task, node)| (task.id, node.fate)).collect();
        let mut started = BTreeSet::new();
        loop {
            let ready = world.in_state(tenant, State::Ready).await;
            if ready.is_empty() && !world.tick().await {
                break;
            }
            let count = 1 + shuffle.below(0..ready.len().max(1));
            let leases = world.lease(leader, owned, &shuffle.some(&ready, count)).await;
            let mut ending = JoinSet::new();
            for lease in leases {
                assert!(started.insert(lease.task), "started twice");
                let (world, fate) = (Arc::clone(&world), fates[&lease.task]);
                ending.spawn(async move { end(&world, lease, fate).await });
            }
            ending.join_all().await;
        }
        let wanted = graphs::ends(&graph);
        for (place, (task, wanted)) in tasks.iter().zip(wanted).enumerate() {
            let state = world.state(task.id).await;
            assert_eq!(state, Some(wanted), "seed {seed}, node {place}: {:?}", graph[place]);
        }
    }
    world.nothing_is_left().await;
    world.check_promises(submitted).await;
    assert_eq!(world.deadlocks().await, 0, "every statement locks in the same order");
}

/// Two parents of many children end in different statements at one instant, a cancel and late children arrive in parallel.
#[tokio::test(flavor = "multi_thread")]
async fn parents_that_end_at_one_instant_release_each_child_once() {
    let world = Arc::new(World::new().await);
    let node = NodeId::fresh();
    let tenant = world.tenant().await;
    for round in 0..rounds(30, 3000) as u64 {
        let (leader, owned) = (world.lead(node).await, world.open(NodeId::fresh()).await);
        let parents: Vec<TaskId> =
            world.store_ready(tenant, 4).await.into_iter().map(|(_, id)| id).collect();
        let children: Vec<NewTask> = (0..20).map(|_| child_of(tenant, &parents)).collect();
        let ids: Vec<TaskId> = children.iter().map(|child| child.id).collect();
        world.put_in(tenant, &children).await;
        let keys: Vec<_> = parents.iter().map(|id| (tenant, *id)).collect();
        let leases = world.lease(leader, owned, &keys).await;
        let mut racing = JoinSet::new();
        for lease in leases {
            let world = Arc::clone(&world);
            racing.spawn(async move {
                assert!(world.complete(&[lease]).await[0].moved_to().is_some());
            });
        }
        let late: Vec<NewTask> = (0..3).map(|_| child_of(tenant, &parents)).collect();
        let late_ids: Vec<TaskId> = late.iter().map(|child| child.id).collect();
        for child in late {
            let world = Arc::clone(&world);
            racing.spawn(async move {
                world.store(child).await;
            });
        }
        let cancelled = ids[usize::try_from(round).unwrap() % ids.len()];
        let other = Arc::clone(&world);
        racing.spawn(async move { other.cancel_all(tenant, &[cancelled]).await });
        racing.join_all().await;
        world.settle_down().await;
        for id in ids.iter().chain(&late_ids) {
            let wanted = if *id == cancelled { State::Cancelled } else { State::Ready };
            assert_eq!(world.state(*id).await, Some(wanted), "round {round}");
        }
        let all: Vec<TaskId> = ids.into_iter().chain(late_ids).collect();
        world.cancel_all(tenant, &all).await;
    }
    world.nothing_is_left().await;
    assert_eq!(world.deadlocks().await, 0, "every statement locks in the same order");
}

#[tokio::test]
async fn a_parent_with_many_children_is_released_in_pieces_and_each_may_be_repeated() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let root = new_task(tenant);
    let children: Vec<NewTask> = (0..1201).map(|_| child_of(tenant, &[root.id])).collect();
    let ids: Vec<TaskId> = children.iter().map(|child| child.id).collect();
    let last = child_of(tenant, &ids[..1000]);
    let tasks: Vec<NewTask> =
        std::iter::once(root.clone()).chain(children).chain([last.clone()]).collect();
    world.put_in(tenant, &tasks).await;
    let leases = world.lease(leader, owned, &[(tenant, root.id)]).await;
    assert_eq!(
        world.complete(&leases).await,
        [TransitionResult::AppliedToParent(State::Succeeded)]
    );
    assert_eq!(world.complete(&leases).await, [TransitionResult::Repeated]);
    assert_eq!(world.in_state(tenant, State::Ready).await.len(), 0, "too many for one statement");
    let mut edges = Vec::new();
    loop {
        let piece = transition::released(&world.scheduler).await.unwrap();
        if piece.parents == 0 {
            break;
        }
        edges.push(piece.edges);
    }
    assert_eq!(edges, [500, 500, 201]);
    let ready = world.in_state(tenant, State::Ready).await;
    assert_eq!(ready.len(), 1201);
    for group in ready.chunks(400) {
        let leases = world.lease(leader, owned, group).await;
        world.complete(&leases).await;
    }
    assert_eq!(world.state(last.id).await, Some(State::Ready));
    world.cancel_all(tenant, &[last.id]).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn what_ended_before_counts_at_once() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let done = world.put(leader, owned, tenant, State::Succeeded).await.task;
    let failed = world.put(leader, owned, tenant, State::Failed).await.task;
    let live = world.put(leader, owned, tenant, State::Ready).await.task;
    let succeeded = Condition::Succeeded;
    let ready = world
        .store(after(tenant, &[(done, succeeded), (failed, Condition::Failed)], Join::All))
        .await;
    let any = world
        .store(after(
            tenant,
            &[(failed, succeeded), (live, succeeded), (done, succeeded)],
            Join::Any,
        ))
        .await;
    let waits = world
        .store(after(
            tenant,
            &[(failed, succeeded), (live, succeeded), (done, succeeded)],
            Join::AtLeast(2),
        ))
        .await;
    let doomed =
        world.store(after(tenant, &[(live, succeeded), (failed, succeeded)], Join::All)).await;
    assert_eq!(world.state(ready).await, Some(State::Ready));
    assert_eq!(world.state(any).await, Some(State::Ready));
    assert_eq!(world.state(waits).await, Some(State::Scheduled));
    assert_eq!(world.state(doomed).await, Some(State::Scheduled));
    world.settle_down().await;
    assert_eq!(world.state(doomed).await, Some(State::Skipped));
    let reason = world.record(tenant, doomed).await.reason.unwrap();
    assert_eq!(reason, format!("its parent `{failed}` did not end as `depends_on` asks"));
    world.cancel_all(tenant, &[live]).await;
    world.settle_down().await;
    assert_eq!(world.state(waits).await, Some(State::Skipped));
}

#[tokio::test]
async fn a_delay_counts_from_the_release_and_a_time_is_kept() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let parent = world.put(leader, owned, tenant, State::Running).await;
    let hour = Duration::from_secs(3600);
    let child = child_of(tenant, &[parent.task]);
    let delayed = NewTask { id: TaskId::fresh(), delay: Some(hour), ..child.clone() };
    let at = runtime::clock::wall() + 5 * hour;
    let timed = NewTask { id: TaskId::fresh(), run_at: Some(at), ..child.clone() };
    let late = NewTask { id: TaskId::fresh(), expire_if_late: true, ..child.clone() };
    for task in [&child, &delayed, &timed, &late] {
        world.store(task.clone()).await;
    }
    // Long ago, as it were.
    world
        .sql("update task set run_at = run_at - interval '1 day', start_deadline = start_deadline - interval '1 day'
            where needs is not null and run_at < now() + interval '4 hours'")
        .await;
    assert_eq!(transition::due(&world.scheduler, &[(tenant, child.id)]).await.unwrap(), 0);
    assert_eq!(transition::expired(&world.scheduler, &[(tenant, late.id)]).await.unwrap(), 0);
    let before = runtime::clock::wall();
    world.complete(&[parent.lease]).await;
    let near = |found: domain::time::Timestamp, wanted: domain::time::Timestamp| {
        (found - wanted).abs() < chrono::TimeDelta::seconds(20)
    };
    let found = world.record(tenant, child.id).await;
    assert_eq!(found.state, State::Ready);
    assert!(
        near(found.run_at, before) && found.delay_tolerance == child.delay_tolerance,
        "{found:?}"
    );
    let found = world.record(tenant, delayed.id).await;
    assert_eq!(found.state, State::Scheduled);
    assert!(near(found.run_at, before + hour), "{found:?}");
    let found = world.record(tenant, timed.id).await;
    assert_eq!(found.state, State::Scheduled);
    assert!(near(found.run_at, at), "{found:?}");
    let woken = world
        .text(format!("select (wake_at - run_at)::text from task where id = '{}'", timed.id.uuid()))
        .await;
    assert_eq!(woken.as_deref(), Some("00:00:00"));
    let expires = world.number(format!(
        "select count(*) from task where id = '{}' and wake_at = start_deadline",
        late.id.uuid()
    ));
    assert_eq!(expires.await, 1);
}

#[tokio::test]
async fn unknown_and_foreign_parents_store_nothing() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let foreign = world.store(new_task(other)).await;
    let own = world.store(new_task(tenant)).await;
    let unknown = TaskId::fresh();
    let first = new_task(tenant);
    let child = child_of(tenant, &[own, foreign, first.id, unknown]);
    let answer = world.put_in(tenant, &[first, child.clone()]).await;
    assert_eq!(answer, BatchAnswer::UnknownParents(vec![vec![], vec![foreign, unknown]]));
    assert_eq!(world.number("select count(*) from task").await, 2);
    // In a group of single submits the others are stored.
    let alone = child_of(tenant, &[foreign]);
    let answers = insert(&world.submit, &[alone, new_task(tenant)]).await.unwrap();
    assert_eq!(answers[0], SubmitAnswer::UnknownParents(vec![foreign]));
    assert!(matches!(answers[1], SubmitAnswer::Created(_)));
    assert_eq!(world.number("select count(*) from task_edge").await, 0);
}

#[tokio::test]
async fn the_holder_of_a_unique_key_is_the_parent_in_its_place() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let keyed = || NewTask { unique_key: Some("nightly".to_owned()), ..new_task(tenant) };
    let holder = world.store(keyed()).await;
    let (again, own) = (keyed(), new_task(tenant));
    let child = child_of(tenant, &[again.id, own.id]);
    world.put_in(tenant, &[again.clone(), own.clone(), child.clone()]).await;
    let parents = world.record(tenant, child.id).await.depends_on.unwrap().edges;
    assert_eq!(parents.iter().map(|edge| edge.parent).collect::<Vec<_>>(), [holder, own.id]);
    for (id, wanted) in [(holder, State::Scheduled), (own.id, State::Ready)] {
        let leases = world.lease(leader, owned, &[(tenant, id)]).await;
        world.complete(&leases).await;
        assert_eq!(world.state(child.id).await, Some(wanted));
    }
}

/// A chain is skipped one level after the other, and one that is long costs no more for each.
#[tokio::test]
async fn a_chain_is_skipped_to_its_end() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut tasks = vec![new_task(tenant)];
    for place in 0..200 {
        tasks.push(child_of(tenant, &[tasks[place].id]));
    }
    world.put_in(tenant, &tasks).await;
    let lease = world.lease(leader, owned, &[(tenant, tasks[0].id)]).await[0];
    end(&world, lease, State::Failed).await;
    world.settle_down().await;
    let skipped = world.number("select count(*) from task_history where state = 'skipped'").await;
    assert_eq!(skipped, 200);
    world.nothing_is_left().await;
}

/// Levers of a task that waits: run-now leaves its parents, a change of its time does not, and a mark of a parent releases.
#[tokio::test]
async fn levers_know_tasks_that_wait() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let parent = world.put(leader, owned, tenant, State::Running).await;
    let now = world.store(child_of(tenant, &[parent.task])).await;
    let changed = child_of(tenant, &[parent.task]);
    world.store(changed.clone()).await;
    assert!(transition::run_now(&world.api, &scope, now).await.unwrap());
    assert_eq!(world.state(now).await, Some(State::Ready));
    let before = world.record(tenant, changed.id).await;
    for wanted in [
        NewTask { run_at: Some(before.created_at), ..changed.clone() },
        NewTask { delay: Some(Duration::from_secs(3600)), ..changed.clone() },
    ] {
        let before = world.record(tenant, changed.id).await;
        let change = TaskChange::between(&before, &wanted);
        let answer = lever::change(&world.api, &scope, (changed.id, before.version), &change).await;
        assert!(matches!(answer.unwrap(), ChangeAnswer::Changed(_)));
        let waits = "select count(*) from task where needs = 1 and wake_at is null";
        assert_eq!(
            (world.state(changed.id).await, world.number(waits).await),
            (Some(State::Scheduled), 1)
        );
    }
    world.complete(&[parent.lease]).await;
    assert_eq!(world.state(now).await, Some(State::Ready), "its parent's end changes nothing");
    let after = world.record(tenant, changed.id).await;
    assert_eq!(after.state, State::Scheduled);
    assert!(
        after.run_at > before.run_at + Duration::from_secs(3500),
        "its delay counts from the release"
    );
    let marked = world.store(new_task(tenant)).await;
    let child = world.store(child_of(tenant, &[marked])).await;
    assert!(
        transition::marked_succeeded(&world.api, &scope, marked, "done by hand").await.unwrap()
    );
    assert_eq!(world.state(child).await, Some(State::Ready));
}

/// The statements decide an edge as the domain does, for each condition and each end.
#[tokio::test]
async fn each_condition_holds_for_the_ends_that_the_domain_says() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    for &on in Condition::ALL {
        for &end in State::ALL.iter().filter(|state| state.is_terminal()) {
            let mut task = new_task(tenant);
            task.delay = Some(Duration::from_millis(1));
            let id = world.store(task).await;
            world.make_child(id).await;
            world
                .sql(format!(
                    "update task_edge set condition = '{on}' where child_id = '{}'",
                    id.uuid()
                ))
                .await;
            world.sql(format!("update task_release set state = '{end}'")).await;
            let piece = transition::released(&world.scheduler).await.unwrap();
            assert_eq!(
                (piece.edges, piece.ready),
                (1, u64::from(on.holds(end))),
                "{on} after {end}"
            );
            world.settle_down().await;
            let wanted = if on.holds(end) { State::Ready } else { State::Skipped };
            assert_eq!(world.state(id).await, Some(wanted), "{on} after {end}");
        }
    }
}
