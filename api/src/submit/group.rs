//! What goes to the database of one group, and who is answered from whose answer.
//!
//! Of the submits with one idempotency key only the first goes; the others follow it. Rows go in
//! sorted by key, so that two groups wait for each other in one direction only.

use super::outcome::Verdict;
use super::queue::Pending;
use crate::problem::Problem;
use domain::id::TenantId;
use store::idempotency::IdempotencyKey;
use store::task::submit::{NewTask, SubmitAnswer};
use tokio::sync::oneshot;

pub(super) type Reply = oneshot::Sender<Result<Verdict, Problem>>;

/// One submit that goes to the database, with those that follow it.
#[derive(Debug)]
pub(super) struct Leader {
    pub answer: Reply,
    pub followers: Vec<Pending>,
}

/// A group, in the order in which it is stored.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub tasks: Vec<NewTask>,
    pub leaders: Vec<Leader>,
}

impl Group {
    pub(super) fn of(mut pending: Vec<Pending>) -> Self {
        // Stable: of equal keys the first to arrive leads.
        pending.sort_by(|a, b| order(&a.task).cmp(&order(&b.task)));
        let mut group = Self::default();
        for next in pending {
            match (group.tasks.last(), group.leaders.last_mut()) {
                (Some(last), Some(leader)) if same_key(last, &next.task) => {
                    leader.followers.push(next)
                }
                _ => {
                    group.tasks.push(*next.task);
                    group.leaders.push(Leader { answer: next.answer, followers: Vec::new() });
                }
            }
        }
        group
    }

    /// Answers the leader at each place, and who follows it. Followers that only the database can judge are given back.
    pub(super) fn answer(self, answers: Vec<SubmitAnswer>) -> Vec<Pending> {
        let mut undecided = Vec::new();
        for ((task, leader), answer) in self.tasks.into_iter().zip(self.leaders).zip(answers) {
            undecided.extend(leader.settle(task, answer));
        }
        undecided
    }

    /// Answers those that have an answer, as [`Self::answer`]; the others are a group of their own.
    pub(super) fn divide(self, answers: Vec<Option<SubmitAnswer>>) -> (Vec<Pending>, Self) {
        let (mut undecided, mut rest) = (Vec::new(), Self::default());
        for ((task, leader), answer) in self.tasks.into_iter().zip(self.leaders).zip(answers) {
            match answer {
                Some(answer) => undecided.extend(leader.settle(task, answer)),
                None => {
                    rest.tasks.push(task);
                    rest.leaders.push(leader);
                }
            }
        }
        (undecided, rest)
    }

    /// Splits off those that satisfy `test`; their followers go with them.
    pub(super) fn partition(self, test: impl Fn(&NewTask) -> bool) -> (Self, Self) {
        let (mut yes, mut no) = (Self::default(), Self::default());
        for (task, leader) in self.tasks.into_iter().zip(self.leaders) {
            let side = if test(&task) { &mut yes } else { &mut no };
            side.tasks.push(task);
            side.leaders.push(leader);
        }
        (yes, no)
    }

    /// Each leader with its followers as a group of its own.
    pub(super) fn singles(self) -> impl Iterator<Item = Self> {
        let pairs = self.tasks.into_iter().zip(self.leaders);
        pairs.map(|(task, leader)| Self { tasks: vec![task], leaders: vec![leader] })
    }

    /// Answers everybody with a problem of their own.
    pub(super) fn refuse(self, problem: impl Fn() -> Problem) {
        for leader in self.leaders {
            // Who does not wait any more has been told that the outcome is unknown.
            drop(leader.answer.send(Err(problem())));
            for follower in leader.followers {
                drop(follower.answer.send(Err(problem())));
            }
        }
    }
}

impl Leader {
    fn settle(self, task: NewTask, answer: SubmitAnswer) -> Vec<Pending> {
        let hash = task.idempotency.as_ref().map(|key| key.body_hash);
        let made = match &answer {
            SubmitAnswer::Created(_) => Some(task.id),
            SubmitAnswer::Replayed(id) | SubmitAnswer::Existing(id) => Some(*id),
            SubmitAnswer::KeyReused
            | SubmitAnswer::UnknownParents(_)
            | SubmitAnswer::OverCap(_) => None,
        };
        let mut undecided = Vec::new();
        let stores_nothing =
            matches!(answer, SubmitAnswer::UnknownParents(_) | SubmitAnswer::OverCap(_));
        for follower in self.followers {
            if stores_nothing {
                undecided.push(follower);
                continue;
            }
            let same_body = follower.task.idempotency.as_ref().map(|key| key.body_hash) == hash;
            let verdict = match (made, same_body) {
                (Some(id), true) => Verdict::Replayed(id),
                (Some(_), false) | (None, true) => Verdict::KeyReused,
                // The key stands for a third body, or for this one: the leader's answer does not say.
                (None, false) => {
                    undecided.push(follower);
                    continue;
                }
            };
            drop(follower.answer.send(Ok(verdict)));
        }
        drop(self.answer.send(Ok(Verdict::of(Box::new(task), answer))));
        undecided
    }
}

type Order<'a> = (TenantId, Option<(&'a str, &'a str)>, Option<&'a str>);

fn order(task: &NewTask) -> Order<'_> {
    (task.tenant, task.idempotency.as_ref().map(parts), task.unique_key.as_deref())
}

fn same_key(a: &NewTask, b: &NewTask) -> bool {
    match (&a.idempotency, &b.idempotency) {
        (Some(x), Some(y)) => a.tenant == b.tenant && parts(x) == parts(y),
        _ => false,
    }
}

fn parts(key: &IdempotencyKey) -> (&str, &str) {
    (&key.route, &key.key)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use domain::batch::Priority;
    use domain::id::TaskId;
    use domain::resources::Tier;
    use domain::task::{Delivery, Labels, NoopRun, Run, State, TaskSpec};
    use std::time::Duration;
    use store::task::submit::Created;

    pub(in crate::submit) type Waiting = oneshot::Receiver<Result<Verdict, Problem>>;

    /// A submit and who waits for it.
    pub(in crate::submit) fn pending(
        tenant: TenantId,
        key: Option<(&str, u8)>,
    ) -> (Pending, Waiting) {
        let task = NewTask {
            tenant,
            id: TaskId::fresh(),
            name: None,
            pool: domain::id::PoolName::default(),
            tier: Some(Tier::Basic),
            resources: Tier::Basic.resources(),
            spec: TaskSpec {
                run: Run::Noop(NoopRun { sleep: Duration::ZERO }),
                retry: None,
                labels: Labels::new(),
            },
            delay: None,
            run_at: None,
            delay_tolerance: Duration::ZERO,
            execution_cap: Duration::from_secs(1),
            expire_if_late: false,
            priority: Priority::default(),
            flexible: false,
            concurrency_key: None,
            max_attempts: 1,
            delivery: Delivery::AtLeastOnce,
            unique_key: None,
            traceparent: None,
            key_id: String::new(),
            schedule: None,
            rerun_of: None,
            reservation: None,
            node: None,
            depends_on: None,
            idempotency: key.map(|(key, body)| IdempotencyKey {
                route: "POST /v1/tasks".to_owned(),
                key: key.to_owned(),
                body_hash: [body; 32],
            }),
        };
        let (answer, waiting) = oneshot::channel();
        (Pending { task: Box::new(task), answer }, waiting)
    }

    fn created() -> SubmitAnswer {
        let at = domain::time::Timestamp::UNIX_EPOCH;
        SubmitAnswer::Created(Created {
            created_at: at,
            run_at: at,
            start_deadline: at,
            state: State::Ready,
            waits: false,
        })
    }

    #[test]
    fn of_one_key_only_the_first_goes_to_the_database() {
        let tenant = TenantId::fresh();
        let (first, first_waits) = pending(tenant, Some(("k", 1)));
        let (same, same_waits) = pending(tenant, Some(("k", 1)));
        let (other, other_waits) = pending(tenant, Some(("k", 2)));
        let id = first.task.id;
        let group = Group::of(vec![first, same, other]);
        assert_eq!(group.tasks.len(), 1);
        assert!(group.answer(vec![created()]).is_empty());
        let verdict = |mut w: Waiting| w.try_recv().unwrap().unwrap();
        assert!(matches!(verdict(first_waits), Verdict::Created(task, _) if task.id == id));
        assert!(matches!(verdict(same_waits), Verdict::Replayed(made) if made == id));
        assert!(matches!(verdict(other_waits), Verdict::KeyReused));
    }

    #[test]
    fn keys_of_tenants_and_submits_without_one_stay_apart() {
        let (a, b) = (TenantId::fresh(), TenantId::fresh());
        let all =
            [(a, Some(("k", 1))), (b, Some(("k", 1))), (a, None), (a, None), (a, Some(("j", 1)))];
        let (pending, waiting): (Vec<_>, Vec<_>) =
            all.into_iter().map(|(t, key)| pending(t, key)).unzip();
        let group = Group::of(pending);
        assert_eq!(group.tasks.len(), 5);
        assert!(group.tasks.is_sorted_by(|x, y| order(x) <= order(y)));
        drop(waiting);
    }

    #[test]
    fn a_follower_that_the_leaders_answer_does_not_judge_is_given_back() {
        let tenant = TenantId::fresh();
        let (first, mut first_waits) = pending(tenant, Some(("k", 1)));
        let (other, _other_waits) = pending(tenant, Some(("k", 2)));
        let undecided = Group::of(vec![first, other]).answer(vec![SubmitAnswer::KeyReused]);
        assert_eq!(undecided.len(), 1, "its body may be the one the key stands for");
        assert!(matches!(first_waits.try_recv().unwrap().unwrap(), Verdict::KeyReused));
    }
}
