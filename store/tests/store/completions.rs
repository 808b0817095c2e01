//! Attempts whose call was taken on: they keep their lease without their executor, and end once, by their token, their cap or a cancel.

use crate::support::{World, ended};
use domain::id::{NodeId, SessionId, TenantId};
use domain::task::{AttemptOutcome, CompletionToken, Event, LeaseKey, ResultValue, State};
use std::time::Duration;
use store::TenantScope;
use store::task::transition::{self, EndedAttempt, TransitionResult};
use store::task::{Completion, CompletionAnswer, EndedCalls, complete, end_called, granted};
use tokio::task::JoinSet;

struct Stage {
    world: World,
    tenant: TenantId,
    scope: TenantScope,
    batcher: NodeId,
}

impl Stage {
    async fn new() -> Self {
        let world = World::new().await;
        let tenant = world.tenant().await;
        let (scope, batcher) = (TenantScope::of_role(tenant), NodeId::fresh());
        Self { world, tenant, scope, batcher }
    }

    /// So many leases.
    async fn run(&self, count: usize) -> Vec<LeaseKey> {
        let leader = self.world.lead(self.batcher).await;
        let owned = self.world.open(NodeId::fresh()).await;
        self.world.run(leader, owned, self.tenant, count).await
    }

    async fn called(&self, leases: &[LeaseKey]) -> Vec<TransitionResult> {
        let calls: Vec<_> = leases.iter().map(|lease| call(*lease)).collect();
        transition::called(&self.world.rm, &calls).await.unwrap()
    }

    async fn complete(&self, lease: LeaseKey, how: &Completion) -> CompletionAnswer {
        complete(&self.world.api, &self.scope, lease, how, 0.5).await.unwrap()
    }

    async fn end_called(&self) -> EndedCalls {
        end_called(&self.world.scheduler, 100, || 0.5).await.unwrap()
    }

    async fn cancel(&self, lease: LeaseKey) {
        let grace = Duration::from_secs(40);
        transition::cancel_requested(&self.world.api, &self.scope, &[lease.task], grace)
            .await
            .unwrap();
    }

    async fn attempt(&self, lease: LeaseKey, column: &str) -> Option<String> {
        let (task, attempt) = (lease.task.uuid(), lease.attempt);
        let sql = format!(
            "select ({column})::text from attempt where task_id = '{task}' and attempt = {attempt}"
        );
        self.world.text(sql).await
    }

    async fn pass_caps(&self) {
        let sql = "update task set placed_at = placed_at - interval '1 hour', wake_at = now() - interval '1 second'
            where (called).session is not null";
        self.world.sql(sql).await;
    }
}

/// The executor's part: 120 ms, answered 202.
fn call(lease: LeaseKey) -> EndedAttempt {
    EndedAttempt { ran_ms: 120, exit_code: Some(202), ..ended(lease, Event::Completed) }
}

fn success(value: &str) -> Completion {
    Completion::Succeeded(Some(ResultValue::read(value.as_bytes()).unwrap()))
}

fn failure() -> Completion {
    Completion::Failed { reason: "the disk is full".to_owned(), retry_after: None }
}

const RUNNING: TransitionResult = TransitionResult::Applied(State::Running);

#[tokio::test]
async fn what_was_called_needs_no_executor_and_ends_by_its_completion_once() {
    let stage = Stage::new().await;
    let [lease] = stage.run(1).await[..] else { panic!() };
    assert_eq!(stage.called(&[lease]).await, [RUNNING]);
    assert_eq!(stage.called(&[lease]).await, [TransitionResult::Repeated]);
    let world = &stage.world;
    assert_eq!(store::lease::live(&world.rm, &[lease.session]).await.unwrap(), []);
    // Its executor dies; that is nothing to it.
    let of_session = EndedAttempt::bare(lease, AttemptOutcome::Lost, "gone");
    let lost = transition::handed_back(&world.rm, &[of_session]).await.unwrap();
    assert_eq!(lost, [TransitionResult::Stale { actual: State::Running, leased: false }]);
    assert_eq!(world.state(lease.task).await, Some(State::Running));

    let stands = granted(&world.api, &stage.scope, lease.task, 1).await.unwrap();
    assert_eq!(stands, Some(lease));
    assert!(CompletionToken::of(&lease).is_of(&stands.unwrap()));
    let done = stage.complete(lease, &success("{\"rows\": 12}")).await;
    assert_eq!(done, CompletionAnswer::Completed(State::Succeeded));
    let result = "select value from task_result";
    assert_eq!(world.text(result.to_owned()).await.as_deref(), Some("{\"rows\": 12}"));
    assert_eq!(stage.attempt(lease, "outcome").await.as_deref(), Some("succeeded"));
    assert_eq!(stage.attempt(lease, "exit_code").await.as_deref(), Some("202"));
    assert!(stage.attempt(lease, "usage_ms").await.unwrap().parse::<u64>().unwrap() <= 120);
    let session = lease.session.uuid().to_string();
    assert_eq!(stage.attempt(lease, "session_id").await, Some(session));

    let all = world.fingerprint(None).await;
    assert_eq!(stage.complete(lease, &success("1")).await, CompletionAnswer::Repeated);
    assert_eq!(stage.complete(lease, &failure()).await, CompletionAnswer::Over);
    assert_eq!(stage.end_called().await, EndedCalls::default());
    assert_eq!(world.fingerprint(None).await, all);
    let stands = granted(&world.api, &stage.scope, lease.task, 1).await.unwrap();
    assert_eq!(stands, Some(lease));
    world.check_promises(1).await;
}

#[tokio::test]
async fn a_completion_may_come_before_the_answer_to_the_call() {
    let stage = Stage::new().await;
    let leases = stage.run(2).await;
    let done = stage.complete(leases[0], &success("1")).await;
    assert_eq!(done, CompletionAnswer::Completed(State::Succeeded));
    let again = stage.complete(leases[1], &failure()).await;
    assert_eq!(again, CompletionAnswer::Completed(State::Retrying));
    let stale = |actual| TransitionResult::Stale { actual, leased: false };
    let answers = stage.called(&leases).await;
    assert_eq!(answers, [stale(State::Succeeded), stale(State::Retrying)]);
    stage.world.check_promises(2).await;
}

#[tokio::test]
async fn a_failure_is_retried_and_the_token_of_the_first_attempt_is_over() {
    let stage = Stage::new().await;
    let [lease] = stage.run(1).await[..] else { panic!() };
    stage.called(&[lease]).await;
    let wait = Duration::from_secs(600);
    let failed = Completion::Failed { reason: "busy".to_owned(), retry_after: Some(wait) };
    let answer = stage.complete(lease, &failed).await;
    assert_eq!(answer, CompletionAnswer::Completed(State::Retrying));
    let waits = "select extract(epoch from run_at - now())::bigint from task where called is null and session_id is null";
    assert!((500..=600).contains(&stage.world.number(waits).await));
    assert_eq!(stage.attempt(lease, "reason").await.as_deref(), Some("busy"));

    stage.world.sql("update task set run_at = now(), wake_at = now()").await;
    transition::due(&stage.world.scheduler, &[(stage.tenant, lease.task)]).await.unwrap();
    let leader = stage.world.lead(stage.batcher).await;
    let owned = stage.world.open(NodeId::fresh()).await;
    let dispatches = stage.world.dispatch(leader, &[(stage.tenant, lease.task)]).await;
    let second = stage.world.place(owned, &dispatches).await[0];
    assert_eq!(stage.called(&[second]).await, [RUNNING]);
    assert_eq!(stage.complete(lease, &success("1")).await, CompletionAnswer::Over);
    assert_eq!(stage.complete(lease, &failure()).await, CompletionAnswer::Repeated);
    let aborted = Completion::Aborted { reason: "no such order".to_owned() };
    let answer = stage.complete(second, &aborted).await;
    assert_eq!(answer, CompletionAnswer::Completed(State::Aborted));
    stage.world.check_promises(1).await;
}

#[tokio::test]
async fn without_a_completion_the_cap_ends_it_and_a_cancel_at_once() {
    let stage = Stage::new().await;
    let leases = stage.run(3).await;
    stage.called(&leases[..2]).await;
    assert_eq!(stage.end_called().await, EndedCalls::default(), "nothing is due");
    stage.cancel(leases[0]).await;
    stage.cancel(leases[2]).await;
    assert_eq!(stage.world.state(leases[0].task).await, Some(State::Cancelling));
    assert_eq!(stage.end_called().await, EndedCalls { read: 1, ended: 1 });
    assert_eq!(stage.world.state(leases[0].task).await, Some(State::Cancelled));
    assert_eq!(stage.attempt(leases[0], "outcome").await.as_deref(), Some("stopped"));
    // Cancelled while its call was on its way: nobody is left to stop.
    assert_eq!(stage.called(&leases[2..]).await, [TransitionResult::Applied(State::Cancelled)]);
    assert_eq!(stage.called(&leases[2..]).await, [TransitionResult::Repeated]);

    stage.pass_caps().await;
    assert_eq!(stage.end_called().await, EndedCalls { read: 1, ended: 1 });
    assert_eq!(stage.world.state(leases[1].task).await, Some(State::Killed));
    let reason = stage.attempt(leases[1], "reason").await.unwrap();
    assert!(reason.starts_with("was not completed within its execution cap of "), "{reason}");
    assert_eq!(stage.complete(leases[1], &success("1")).await, CompletionAnswer::Over);
    stage.world.check_promises(3).await;
}

#[tokio::test]
async fn what_ends_it_at_the_same_instant_ends_it_once_and_the_answers_agree() {
    let stage = Stage::new().await;
    let leases = stage.run(60).await;
    stage.called(&leases).await;
    stage.pass_caps().await;
    for lease in &leases[..20] {
        stage.cancel(*lease).await;
    }
    let mut completions = JoinSet::new();
    for lease in leases {
        let (api, scope) = (stage.world.api.clone(), stage.scope);
        completions.spawn(async move {
            complete(&api, &scope, lease, &Completion::Succeeded(None), 0.5).await.unwrap()
        });
    }
    let (answers, first, second) =
        tokio::join!(completions.join_all(), stage.end_called(), stage.end_called());
    let completed =
        |answer: &&CompletionAnswer| **answer == CompletionAnswer::Completed(State::Succeeded);
    let done = answers.iter().filter(completed).count() as u64;
    assert!(answers.iter().all(|answer| completed(&answer) || *answer == CompletionAnswer::Over));
    assert_eq!(done + first.ended + second.ended, 60, "{answers:?}");
    let succeeded = "select count(*) from task_history where state = 'succeeded'";
    assert_eq!(stage.world.number(succeeded).await as u64, done);
    stage.world.check_promises(60).await;
}

#[tokio::test]
async fn a_token_is_looked_up_in_its_own_tenant_only() {
    let stage = Stage::new().await;
    let [lease] = stage.run(1).await[..] else { panic!() };
    stage.called(&[lease]).await;
    let other = TenantScope::of_role(stage.world.tenant().await);
    let api = &stage.world.api;
    assert_eq!(granted(api, &other, lease.task, 1).await.unwrap(), None);
    assert_eq!(granted(api, &stage.scope, lease.task, 2).await.unwrap(), None);
    let foreign = LeaseKey { tenant: other.tenant(), ..lease };
    let done = complete(api, &other, foreign, &success("1"), 0.5).await.unwrap();
    assert_eq!(done, CompletionAnswer::Over);
    let nobody = LeaseKey { session: SessionId::CALLED, ..lease };
    assert_eq!(stage.complete(nobody, &success("1")).await, CompletionAnswer::Over);
    assert_eq!(stage.world.state(lease.task).await, Some(State::Running));
}
