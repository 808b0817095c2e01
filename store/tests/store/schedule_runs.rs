//! Schedules that start workflow runs.

use crate::support::{Firing, World, new_schedule, once, template};
use domain::audit::ActorId;
use domain::id::{ScheduleId, TaskId, TenantId, WorkflowRunId};
use domain::schedule::{FireTemplate, Made, Misfire, Outcome, Overlap, WorkflowStart};
use domain::workflow::Plan;
use serde_json::{Value, json};
use std::time::Duration;
use store::fire::{Facts, PausedForFailures, Verdict, Written, count_run_ends, write_starting};
use store::schedule::{self, PutAnswer, PutSchedule, ScheduleRecord, TriggerAnswer, TriggerRun};
use store::workflow::run::RunFilter;
use store::workflow::{self, PutWorkflow};
use store::{StoreError, TenantScope};

const TERM: Duration = Duration::from_secs(60);
const MINUTE: Duration = Duration::from_secs(60);

/// A workflow of two nodes, the second after the first, that reads `/a` of its input.
async fn put_workflow(world: &World, scope: &TenantScope, name: &str) {
    let task = serde_json::to_value(template()).unwrap();
    let mut reading = task.clone();
    reading["run"] = json!({"command": {"argv": ["x"], "env": {"A": ""}}});
    let hole = json!({"at": "/command/env/A", "from": {"input": "/a"}});
    let plan = json!({"nodes": [
        {"name": "one", "task": reading, "holes": [hole]},
        {"name": "two", "task": task, "after": [{"node": 0, "on": "succeeded"}]}]});
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let by = ActorId::from("aaaaaaaaaaaa".to_owned());
    let definition = json!({"nodes": {"is": name}}).to_string();
    let name = name.to_owned();
    let new = PutWorkflow { name, definition, plan, updated_by: by, if_version: None, most: 10 };
    workflow::put(&world.api, scope, &new).await.unwrap();
}

fn starting(name: &str, workflow: &str, input: Option<Value>) -> PutSchedule {
    let input = input.map(|input| input.to_string());
    let start = WorkflowStart { workflow: workflow.to_owned(), input };
    PutSchedule { template: FireTemplate::Workflow(start), ..new_schedule(name) }
}

async fn put(world: &World, scope: &TenantScope, new: &PutSchedule) -> ScheduleRecord {
    match schedule::put(&world.api, scope, new).await.unwrap() {
        PutAnswer::Created(record) | PutAnswer::Updated(record) => *record,
        other => panic!("{other:?}"),
    }
}

/// One fire that starts the run `id`, if it can be started.
fn starts(facts: &Facts, id: WorkflowRunId) -> Verdict {
    let mut verdict = once(facts, MINUTE, TaskId::fresh());
    let Some(start) = verdict.template.as_ref().and_then(|template| template.workflow().cloned())
    else {
        return verdict;
    };
    match facts.starts.as_ref().unwrap().runs(start.input.as_deref()) {
        Ok(runs) => {
            verdict.rows[0].made = Some(Made::Run(id));
            verdict.runs = Some(runs);
        }
        Err(why) => {
            (verdict.rows[0].made, verdict.rows[0].detail) = (None, Some(why));
            verdict.rows[0].outcome = Outcome::WorkflowUnavailable;
        }
    }
    verdict
}

async fn start(
    world: &World,
    firing: &Firing,
    of: ScheduleId,
    id: WorkflowRunId,
) -> Result<Written, StoreError> {
    let due = firing.due(world).await.into_iter().find(|due| due.schedule == of).unwrap();
    let judge = |facts: &[Facts]| Ok(facts.iter().map(|facts| starts(facts, id)).collect());
    write_starting(&world.scheduler, firing.who(), due, judge).await
}

struct Set {
    world: World,
    tenant: TenantId,
    scope: TenantScope,
    firing: Firing,
}

/// A tenant with the workflow `nightly`, and who fires.
async fn set() -> Set {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    put_workflow(&world, &scope, "nightly").await;
    let firing = Firing::begin(&world, TERM).await;
    Set { world, tenant, scope, firing }
}

#[tokio::test]
async fn a_fire_stores_its_row_the_run_and_its_tasks_together_and_once() {
    let Set { world, tenant, scope, firing } = set().await;
    let record = put(&world, &scope, &starting("s", "nightly", Some(json!({"a": "x"})))).await;
    world.make_due(record.id, 20).await;
    let due = firing.due(&world).await;
    let left = firing.fire_by(&world, &due, |facts| panic!("{facts:?}")).await.unwrap();
    assert_eq!((left.starting, left.rows.len()), (due.clone(), 0), "left to be written alone");
    let fails = |_: &[Facts]| Err(StoreError::Contended);
    let failed = write_starting(&world.scheduler, firing.who(), due[0], fails).await;
    assert!(failed.is_err(), "and nothing is written");
    let count = "select count(*) from workflow_run";
    assert_eq!(world.number(count).await, 0);
    let ids = [WorkflowRunId::fresh(), WorkflowRunId::fresh()];
    let judge = |id| move |facts: &[Facts]| Ok(facts.iter().map(|f| starts(f, id)).collect());
    let (one, other) = tokio::join!(
        write_starting(&world.scheduler, firing.who(), due[0], judge(ids[0])),
        write_starting(&world.scheduler, firing.who(), due[0], judge(ids[1])),
    );
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.rows.len() + other.rows.len(), 1, "one of two that fire at once");
    assert!(one.runs_changed != other.runs_changed);
    let again = write_starting(&world.scheduler, firing.who(), due[0], judge(ids[0])).await;
    assert_eq!(again.unwrap().rows, [], "an answer that was lost");
    assert_eq!(
        (world.number(count).await, world.number("select count(*) from task").await),
        (1, 2)
    );
    let id = if one.rows.is_empty() { ids[1] } else { ids[0] };
    let run = workflow::run::get(&world.api, &scope, id).await.unwrap().unwrap();
    let fired = run.fired.clone().unwrap();
    assert_eq!(
        (fired.schedule, fired.name.as_str(), fired.due_at),
        (record.id, "s", due[0].due_at)
    );
    assert_eq!((run.workflow.as_deref(), run.version, run.total), (Some("nightly"), Some(1), 2));
    assert!(run.plan.contains(r#""A":"x""#), "{}", run.plan);
    let page = schedule::fires(&world.api, &scope, "s", &Default::default(), 9).await.unwrap();
    let fire = &page.unwrap().rows[0];
    assert_eq!((fire.run, fire.task, fire.outcome), (Some(id), None, Outcome::Fired));
    let stored = schedule::get(&world.api, &scope, "s").await.unwrap().unwrap();
    assert_eq!((stored.recent_runs, stored.recent, stored.fires), (vec![id], vec![], 1));
    let of = RunFilter { schedule: Some(record.id), ..RunFilter::default() };
    let list = workflow::run::list(&world.api, &scope, &of, 9).await.unwrap().rows;
    assert_eq!(list.iter().map(|run| run.id).collect::<Vec<_>>(), [id]);
    let of = RunFilter { schedule: Some(ScheduleId::fresh()), ..RunFilter::default() };
    assert_eq!(workflow::run::list(&world.api, &scope, &of, 9).await.unwrap().rows, []);
    let told = format!(
        "select count(*) from task_spec where tenant_id = '{}' and schedule_id = '{}' and schedule_name = 's' and due_at is not null",
        tenant.uuid(),
        record.id.uuid()
    );
    assert_eq!(world.number(told.as_str()).await, 2, "its tasks know their due time");
}

#[tokio::test]
async fn a_definition_that_a_schedule_names_is_kept_and_what_cannot_start_says_why() {
    let Set { world, scope, firing, .. } = set().await;
    let unknown = schedule::put(&world.api, &scope, &starting("s", "none", None)).await.unwrap();
    assert_eq!(unknown, PutAnswer::UnknownWorkflow);
    let record = put(&world, &scope, &starting("s", "nightly", None)).await;
    let delete = async || workflow::delete(&world.api, &scope, "nightly", None).await.unwrap();
    assert_eq!(delete().await, workflow::DeleteAnswer::InUse(vec!["s".to_owned()]));
    let fires = async || {
        world.make_due(record.id, 20).await;
        let written = start(&world, &firing, record.id, WorkflowRunId::fresh()).await.unwrap();
        assert_eq!(written.rows, [Outcome::WorkflowUnavailable]);
        let page = schedule::fires(&world.api, &scope, "s", &Default::default(), 1).await;
        page.unwrap().unwrap().rows[0].detail.clone().unwrap()
    };
    assert!(fires().await.contains("the input has no value at `/a`"));
    // As of a restored backup.
    world.sql("delete from workflow").await;
    assert_eq!(fires().await, "there is no workflow `nightly`");
    assert_eq!(world.number("select count(*) from workflow_run").await, 0);
    put_workflow(&world, &scope, "nightly").await;
    put(&world, &scope, &new_schedule("s")).await;
    assert_eq!(delete().await, workflow::DeleteAnswer::Deleted, "it makes tasks now");
}

#[tokio::test]
async fn runs_that_have_not_ended_are_live_and_the_newer_takes_their_place() {
    let Set { world, tenant, scope, firing } = set().await;
    let mut new = starting("s", "nightly", Some(json!({"a": 1})));
    new.overlap = Overlap::CancelOther;
    let record = put(&world, &scope, &new).await;
    let mut live: Vec<Made> = Vec::new();
    for ago in [50, 40, 30] {
        world.make_due(record.id, ago).await;
        let due = firing.due(&world).await[0];
        let id = WorkflowRunId::fresh();
        let judge = |facts: &[Facts]| {
            assert_eq!(facts[0].live, live);
            let mut verdict = starts(&facts[0], id);
            verdict.cancel.clone_from(&facts[0].live);
            Ok(vec![verdict])
        };
        let written = write_starting(&world.scheduler, firing.who(), due, judge).await.unwrap();
        assert!(written.runs_changed);
        live = vec![Made::Run(id)];
        while workflow::run::stop_piece(&world.scheduler, MINUTE).await.unwrap().cancelled > 0 {}
        while workflow::run::count_ends(&world.scheduler, 10).await.unwrap().rows > 0 {}
    }
    let ended = "select count(*) from workflow_run where state = 'cancelled' and reason = 'a newer run of its schedule took its place'";
    assert_eq!(world.number(ended).await, 2);
    let last = live[0].run().unwrap();
    let run = workflow::run::get(&world.api, &scope, last).await.unwrap().unwrap();
    assert!(!run.state.is_terminal());
    // A fixed delay counts from its end.
    world
        .sql(format!(
            "update schedule set due_at = null, fire_at = null, awaits = '{}'",
            last.uuid()
        ))
        .await;
    let shards: Vec<_> = firing.shards.iter().map(|at| at.shard).collect();
    let awaited = async || store::fire::awaited(&world.scheduler, &shards, 9).await.unwrap();
    assert_eq!(awaited().await, []);
    workflow::run::cancel(&world.api, &scope, last).await.unwrap();
    while workflow::run::stop_piece(&world.scheduler, MINUTE).await.unwrap().cancelled > 0 {}
    while workflow::run::count_ends(&world.scheduler, 10).await.unwrap().rows > 0 {}
    let run = workflow::run::get(&world.api, &scope, last).await.unwrap().unwrap();
    let found = awaited().await;
    assert_eq!((found[0].made, Some(found[0].ended_at)), (last.uuid(), run.finished_at));
    assert_eq!(
        world
            .number(format!("select count(*) from task where tenant_id = '{}'", tenant.uuid()))
            .await,
        0
    );
}

#[tokio::test]
async fn enough_runs_in_a_row_that_fail_pause_their_schedule_once() {
    let Set { world, tenant, scope, firing } = set().await;
    let mut new = starting("weak", "nightly", Some(json!({"a": 1})));
    new.pause_after_failures = Some(2);
    let record = put(&world, &scope, &new).await;
    let mut paused = Vec::new();
    let mut last = None;
    for state in ["failed", "succeeded", "expired", "cancelled", "failed"] {
        world.make_due(record.id, 20).await;
        let id = WorkflowRunId::fresh();
        start(&world, &firing, record.id, id).await.unwrap();
        world.sql(format!("update workflow_run set state = '{state}', finished_at = clock_timestamp() where finished_at is null")).await;
        let (one, other) =
            tokio::join!(count_run_ends(&world.scheduler, 5), count_run_ends(&world.scheduler, 5));
        paused.extend(one.unwrap().paused.into_iter().chain(other.unwrap().paused));
        last = Some(Made::Run(id));
    }
    let (name, last) = ("weak".to_owned(), last.unwrap());
    assert_eq!(
        paused,
        [PausedForFailures { schedule: record.id, tenant, name, failures: 2, last }]
    );
    assert_eq!(count_run_ends(&world.scheduler, 5).await.unwrap().ends, 0);
    let pause = schedule::get(&world.api, &scope, "weak").await.unwrap().unwrap().paused.unwrap();
    let because = pause.because.unwrap();
    assert!(because.starts_with("2 runs in a row did not succeed; the last, `run_"), "{because}");
    let told = "select detail ->> 'workflow_run' from task_event where kind = 'schedule_paused'";
    let run = last.run().map(|id| id.to_string());
    assert_eq!(world.text(told).await, run);
}

#[tokio::test]
async fn a_trigger_and_a_backfill_start_runs_within_the_quota() {
    let Set { world, scope, firing, .. } = set().await;
    let mut new = starting("s", "nightly", Some(json!({"a": 1})));
    new.misfire = Misfire::FireNow;
    let record = put(&world, &scope, &new).await;
    // What a run of it is made of, as who answers a request has it.
    let plan = workflow::get(&world.api, &scope, "nightly").await.unwrap().unwrap().plan().unwrap();
    let of = store::workflow::run::RunOf {
        tenant: scope.tenant(),
        workflow: Some(("nightly".to_owned(), 1)),
        plan: plan.with_input(&json!({"a": 1})).unwrap(),
        input: None,
        started_by: "bbbbbbbbbbbb".to_owned(),
        traceparent: None,
        fired: None,
    };
    let trigger = async |version, most| {
        let run = TriggerRun { of: &of, version, most: (most, 10) };
        let answer = |_: &_| Vec::new();
        match schedule::trigger_run(&world.submit, (&scope, None), "s", run, answer).await.unwrap()
        {
            store::idempotency::Once::Done(answer) => answer,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(trigger(record.version + 1, 5).await, TriggerAnswer::Otherwise);
    let TriggerAnswer::Fired(fire) = trigger(record.version, 5).await else { panic!("it fires") };
    let run = workflow::run::get(&world.api, &scope, fire.run.unwrap()).await.unwrap().unwrap();
    assert_eq!(run.fired.map(|fired| fired.due_at), Some(fire.due_at));
    assert_eq!(trigger(record.version, 1).await, TriggerAnswer::QuotaReached);
    let stored = schedule::get(&world.api, &scope, "s").await.unwrap().unwrap();
    assert_eq!((stored.recent_runs, stored.fires), (vec![run.id], 0));
    let to = runtime::clock::wall();
    let from = to - Duration::from_secs(4 * 24 * 3600);
    let range = schedule::Backfill { from, to, dry_run: false, per_second: 1000.0 };
    let planned = schedule::backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await.unwrap();
    let schedule::BackfillAnswer::Planned(plan) = planned else { panic!("{planned:?}") };
    let shard = store::fire::backfills(&world.scheduler, &[0; 0], 1).await.unwrap();
    assert_eq!(shard, []);
    let shards: Vec<_> = firing.shards.iter().map(|at| at.shard).collect();
    let due = store::fire::backfills(&world.scheduler, &shards, 1).await.unwrap()[0];
    let at = firing.shards.iter().find(|at| at.shard == due.shard).copied().unwrap();
    let step = async |room| {
        let room = |_: &[&_], _: &_| room;
        store::fire::backfill_step(&world.scheduler, firing.node, at, record.id, room)
            .await
            .unwrap()
    };
    assert_eq!(step(1).await.made, 0, "no room for two tasks");
    world.sql("update schedule_backfill set next_at = now()").await;
    let made = step(1000).await;
    assert_eq!((made.made as u32, made.done), (plan.to_fire, true));
    let rows = "select count(distinct run_id) from schedule_fire where kind = 'backfill' and outcome = 'fired' and task_id is null";
    assert_eq!(world.number(rows).await, i64::from(plan.to_fire));
    let again = schedule::backfill(&world.api, &scope, "s", range, "bbbbbbbbbbbb").await.unwrap();
    assert!(matches!(again, schedule::BackfillAnswer::Planned(plan) if plan.to_fire == 0));
}
