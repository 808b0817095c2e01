//! Stores tasks of which some are accepted under spend caps.
//!
//! Where the writer knows the caps and each has enough in one share, that is one statement, which also checks that what is known holds. Else
//! it is a transaction: tasks are stored first, and then what they reserve is taken, as at an end: tasks before shares. Where a share has
//! too little, all is undone, and the sum decides task by task, in their order, which are stored.
//!
//! Tasks of workflow nodes reserve when their turn comes: until then their gate is closed.

use super::guarded::needs_guard;
use super::{NewTask, SubmitAnswer, parents, plain};
use crate::StoreError;
use crate::spend::{Accepting, Candidate, Demand, Shares, take_at_once};
use crate::statement::named;
use domain::price::Reservation;
use sqlx::{Connection, PgConnection};
use std::collections::HashSet;

pub(super) async fn insert(
    tx: &mut PgConnection,
    tasks: &[NewTask],
    accepting: &Accepting,
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let tasks: Vec<NewTask> = tasks.iter().map(|task| with_reservation(task, accepting)).collect();
    let mut inner = named("begin", tx.begin()).await?;
    let first = store(&mut inner, &tasks).await?;
    let demand = Demand::of(reservations(&tasks, &first));
    let fits = !accepting.is_billed_otherwise();
    if demand.is_empty() || (fits && take_at_once(&mut inner, &demand).await?) {
        named("commit", inner.commit()).await?;
        return Ok(first);
    }
    named("rollback", inner.rollback()).await?;
    one_by_one(tx, &tasks, &first).await
}

/// Stores `tasks`, which have nothing to do with others, by what is `known` of caps, in one statement. Those for which that does not hold
/// any more, or whose shares have too little, get no answer.
pub(super) async fn insert_known(
    tx: &mut PgConnection,
    tasks: &[&NewTask],
    known: &Accepting,
) -> Result<Vec<Option<SubmitAnswer>>, StoreError> {
    let tasks: Vec<NewTask> = tasks.iter().map(|task| with_reservation(task, known)).collect();
    plain::insert_known(tx, &tasks, known).await
}

/// `first`: the answers without any cap.
async fn one_by_one(
    tx: &mut PgConnection,
    tasks: &[NewTask],
    first: &[SubmitAnswer],
) -> Result<Vec<SubmitAnswer>, StoreError> {
    let mut shares = Shares::lock(&mut *tx, reservations(tasks, first)).await?;
    let is_new = |answer: &SubmitAnswer| matches!(answer, SubmitAnswer::Created(_));
    let mut refused = Vec::with_capacity(tasks.len());
    for (task, answer) in tasks.iter().zip(first) {
        let reservation = task.reservation.as_ref().filter(|_| is_new(answer));
        refused.push(reservation.and_then(|reservation| shares.take(reservation).err()));
    }
    if let Some(refusal) = refused.iter().flatten().next()
        && are_linked(tasks)
    {
        // None of them without the others.
        return Ok(vec![SubmitAnswer::OverCap(Box::new(refusal.clone())); tasks.len()]);
    }
    let kept = tasks.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let kept: Vec<NewTask> = kept.map(|(task, _)| task.clone()).collect();
    let mut stored = store(&mut *tx, &kept).await?.into_iter();
    shares.write(tx).await?;
    let mut answers = Vec::with_capacity(tasks.len());
    for (refused, first) in refused.into_iter().zip(first) {
        let answer = match refused {
            Some(refusal) => SubmitAnswer::OverCap(Box::new(refusal)),
            None => stored.next().ok_or(StoreError::Contended)?,
        };
        // Another task has taken a key, or given it up, in between.
        if is_new(&answer) != is_new(first) && !matches!(answer, SubmitAnswer::OverCap(_)) {
            return Err(StoreError::Contended);
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// Whether some wait for others of them.
fn are_linked(tasks: &[NewTask]) -> bool {
    let ids: HashSet<_> = tasks.iter().map(|task| task.id).collect();
    let edges = tasks.iter().flat_map(|task| &task.depends_on).flat_map(|all| &all.edges);
    edges.into_iter().any(|edge| ids.contains(&edge.parent))
}

fn with_reservation(task: &NewTask, accepting: &Accepting) -> NewTask {
    let mut task = task.clone();
    if !accepting.has(task.tenant) {
        return task;
    }
    match &mut task.node {
        Some(node) if node.item_of.is_none() => {
            node.gate.get_or_insert_default();
        }
        _ => {
            task.reservation = accepting.reservation(&Candidate {
                tenant: task.tenant,
                most: task.most(),
                attempts: task.max_attempts,
                labels: &task.spec.labels,
                is_fired: task.schedule.is_some() && task.node.is_none() && task.rerun_of.is_none(),
                schedule: task.schedule.as_ref().map(|fired| &*fired.name),
            });
        }
    }
    task
}

/// Those of the tasks that are new.
fn reservations<'a>(
    tasks: &'a [NewTask],
    answers: &'a [SubmitAnswer],
) -> impl Iterator<Item = &'a Reservation> {
    let new = tasks.iter().zip(answers);
    let new = new.filter(|(_, answer)| matches!(answer, SubmitAnswer::Created(_)));
    new.filter_map(|(task, _)| task.reservation.as_ref())
}

async fn store(tx: &mut PgConnection, tasks: &[NewTask]) -> Result<Vec<SubmitAnswer>, StoreError> {
    if needs_guard(tasks) {
        parents::insert(tx, tasks).await
    } else {
        plain::insert_reserved(tx, tasks).await
    }
}
