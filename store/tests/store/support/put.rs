//! Puts tasks into a state, through the statements that lead there.

use super::world::{Leader, Owned, World};
use domain::batch::Priority;
use domain::epoch::Epoch;
use domain::id::{TaskId, TenantId};
use domain::resources::Tier;
use domain::task::{
    AttemptOutcome, Delivery, Dispatch, Event, Labels, LeaseKey, NoopRun, Run, State, TaskSpec,
};
use std::time::Duration;
use store::TenantScope;
use store::task::submit::{NewTask, SubmitAnswer, insert};
use store::task::transition::{self, Claim, EndedAttempt, FailedAttempt, SessionEpoch};

/// A task in a known state, and the tokens that name it.
#[derive(Debug, Clone, Copy)]
pub struct Put {
    pub tenant: TenantId,
    pub task: TaskId,
    /// Its last dispatch; under epoch 0 where there was none.
    pub dispatch: Dispatch,
    /// Its last lease; made up where there was none.
    pub lease: LeaseKey,
}

/// One label.
pub fn labels(key: &str, value: &str) -> Labels {
    Labels::from([(key.to_owned(), value.to_owned())])
}

pub fn new_task(tenant: TenantId) -> NewTask {
    NewTask {
        tenant,
        id: TaskId::fresh(),
        name: Some("resize".to_owned()),
        pool: "default".parse().unwrap(),
        tier: Some(Tier::Basic),
        resources: Tier::Basic.resources(),
        spec: TaskSpec {
            run: Run::Noop(NoopRun { sleep: Duration::ZERO }),
            retry: None,
            labels: Labels::new(),
        },
        delay: None,
        run_at: None,
        delay_tolerance: Duration::from_secs(300),
        execution_cap: Duration::from_secs(60),
        expire_if_late: false,
        priority: Priority::default(),
        flexible: false,
        concurrency_key: None,
        max_attempts: 3,
        delivery: Delivery::AtLeastOnce,
        unique_key: None,
        traceparent: None,
        key_id: "aaaaaaaaaaaa".to_owned(),
        schedule: None,
        rerun_of: None,
        reservation: None,
        node: None,
        depends_on: None,
        idempotency: None,
    }
}

/// A fresh id as a clock `days` off would make it.
pub fn id_days_off(days: i64) -> TaskId {
    let now = runtime::clock::wall() + chrono::TimeDelta::days(days);
    let millis = u128::try_from(now.timestamp_millis()).unwrap();
    TaskId(uuid::Uuid::from_u128(
        (millis << 80) | (TaskId::fresh().uuid().as_u128() & ((1 << 80) - 1)),
    ))
}

/// How an attempt ends by `event`, with figures that show in its row.
pub fn ended(lease: LeaseKey, event: Event) -> EndedAttempt {
    EndedAttempt {
        ran_ms: 3_600_000,
        exit_code: Some(7),
        stdout_bytes: 11,
        stderr_bytes: 13,
        ..EndedAttempt::bare(lease, outcome_of(event), "told by a test")
    }
}

pub fn outcome_of(event: Event) -> AttemptOutcome {
    match event {
        Event::Completed => AttemptOutcome::Succeeded,
        Event::AttemptKilled => AttemptOutcome::KilledCap,
        Event::LeaseLapsed | Event::LeaseLapsedForGood => AttemptOutcome::Lost,
        Event::HandedBack => AttemptOutcome::HandedBack,
        Event::NotStarted | Event::ReturnedAgain => AttemptOutcome::NotStarted,
        // A call that nobody waits for any more.
        Event::Stopped | Event::Called => AttemptOutcome::Stopped,
        _ => AttemptOutcome::Failed,
    }
}

impl World {
    /// Stores one task without keys.
    pub async fn store(&self, task: NewTask) -> TaskId {
        let id = task.id;
        let answers = insert(&self.submit, &[task]).await.unwrap();
        assert!(matches!(answers[..], [SubmitAnswer::Created(_)]), "{answers:?}");
        id
    }

    /// Stores `count` ready tasks.
    pub async fn store_ready(&self, tenant: TenantId, count: usize) -> Vec<(TenantId, TaskId)> {
        let tasks: Vec<_> = (0..count).map(|_| new_task(tenant)).collect();
        insert(&self.submit, &tasks).await.unwrap();
        tasks.iter().map(|task| (task.tenant, task.id)).collect()
    }

    /// Ready tasks to queued; what was marked, with its dispatch.
    pub async fn dispatch(&self, leader: Leader, tasks: &[(TenantId, TaskId)]) -> Vec<Dispatch> {
        let term = Duration::from_secs(5);
        transition::dispatched(&self.scheduler, leader.node, leader.epoch, tasks, term)
            .await
            .unwrap()
            .unwrap()
    }

    /// Queued tasks to running on `owned`; the leases.
    pub async fn place(&self, owned: Owned, dispatches: &[Dispatch]) -> Vec<LeaseKey> {
        let placed = self.place_with_specs(owned, dispatches).await;
        placed.into_iter().map(|placed| placed.lease).collect()
    }

    /// The same, with what each is to run.
    pub async fn place_with_specs(
        &self,
        owned: Owned,
        dispatches: &[Dispatch],
    ) -> Vec<transition::Placed> {
        let sessions = [SessionEpoch { session: owned.session, epoch: owned.epoch }];
        let claims: Vec<_> =
            dispatches.iter().zip(1..).map(|(d, number)| claim(owned, *d, number)).collect();
        let grace = Duration::from_secs(40);
        transition::placed(&self.rm, owned.node, &sessions, &claims, grace).await.unwrap()
    }

    /// `count` tasks running on `owned`.
    pub async fn run(
        &self,
        leader: Leader,
        owned: Owned,
        tenant: TenantId,
        count: usize,
    ) -> Vec<LeaseKey> {
        let tasks = self.store_ready(tenant, count).await;
        let leases = self.place(owned, &self.dispatch(leader, &tasks).await).await;
        assert_eq!(leases.len(), count);
        leases
    }

    /// A task in `state`; where it is waiting for a time, that time has come.
    pub async fn put(&self, leader: Leader, owned: Owned, tenant: TenantId, state: State) -> Put {
        let mut task = new_task(tenant);
        if matches!(state, State::Scheduled | State::Skipped) {
            task.delay = Some(Duration::from_millis(1));
        }
        let id = self.store(task).await;
        let lease = LeaseKey { tenant, task: id, attempt: 1, session: owned.session };
        let dispatch = Dispatch { tenant, task: id, epoch: Epoch::default() };
        let mut put = Put { tenant, task: id, dispatch, lease };
        match state {
            State::Scheduled | State::Ready => {}
            State::Cancelled => self.cancel(&put).await,
            State::Expired => {
                self.make_late(id).await;
                assert_eq!(transition::expired(&self.scheduler, &[(tenant, id)]).await.unwrap(), 1);
            }
            State::Skipped => self.skip(tenant, id).await,
            _ => {
                put.dispatch = self.dispatch(leader, &[(tenant, id)]).await[0];
                if state != State::Queued {
                    put.lease = self.place(owned, &[put.dispatch]).await[0];
                    self.leave_running(&put, state).await;
                }
            }
        }
        put
    }

    async fn leave_running(&self, put: &Put, state: State) {
        let told = |event| [ended(put.lease, event)];
        match state {
            State::Cancelling => self.cancel(put).await,
            State::Retrying => {
                let ended = ended(put.lease, Event::AttemptFailed);
                let failed = [FailedAttempt { ended, retry_after: Duration::ZERO, held: None }];
                transition::attempt_failed(&self.rm, &failed).await.map(drop).unwrap();
            }
            State::Succeeded => {
                transition::completed(&self.rm, &told(Event::Completed)).await.map(drop).unwrap()
            }
            State::Failed => {
                transition::attempts_exhausted(&self.rm, &told(Event::AttemptsExhausted))
                    .await
                    .map(drop)
                    .unwrap();
            }
            State::Aborted => {
                transition::attempt_aborted(&self.rm, &told(Event::AttemptAborted))
                    .await
                    .map(drop)
                    .unwrap();
            }
            State::Killed => transition::attempt_killed(&self.rm, &told(Event::AttemptKilled))
                .await
                .map(drop)
                .unwrap(),
            _ => {}
        }
    }

    async fn cancel(&self, put: &Put) {
        let scope = TenantScope::of_role(put.tenant);
        transition::cancel_requested(&self.api, &scope, &[put.task], Duration::from_secs(40))
            .await
            .unwrap();
    }

    /// Makes a task one that expires, too late, and not started, whatever it is.
    pub async fn make_late(&self, task: TaskId) {
        let id = task.uuid();
        self.sql(format!(
            "update task set expire_if_late = true, first_started_at = null, start_deadline = now() - interval '1 second'
                where id = '{id}'"
        ))
        .await;
    }

    /// Gives a task a time in an hour, whatever it is; its state stays.
    pub async fn put_off(&self, task: TaskId) {
        let id = task.uuid();
        self.sql(format!(
            "update task set run_at = now() + interval '1 hour', start_deadline = now() + interval '2 hours' where id = '{id}'"
        ))
        .await;
    }
}

pub fn claim(owned: Owned, dispatch: Dispatch, assignment: u64) -> Claim {
    Claim { dispatch, session: owned.session, assignment, port_first: 20_000 }
}
