//! What is done so that a point is reached.

use e2e::{Cluster, Customer, Role};
use faults::{Operation, Point};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::poll;

const SOON: Duration = Duration::from_secs(10);

/// Ids, each with the state in which it must end.
pub type Tasks = Vec<(String, &'static str)>;

/// What was done before a point is attacked.
#[derive(Default)]
pub struct Begun {
    /// Processes that were killed and are to be started again.
    pub dead: Vec<usize>,
    pub submitted: Tasks,
}

/// Kills an executor in the middle of its work, where that is what `point` is about.
pub async fn begin(
    cluster: &mut Cluster,
    customer: Option<&Customer>,
    point: &Point,
    tag: &str,
) -> anyhow::Result<Begun> {
    let (Operation::Reap, Some(customer)) = (point.of, customer) else {
        return Ok(Begun::default());
    };
    let long = json!({"run": {"noop": {"sleep": "3s"}}});
    let id = customer.submit_until_answered(&long, &format!("{tag}-long")).await?;
    poll::until("the task to run", SOON, || async {
        customer.get(&id).await.is_ok_and(|task| task["state"] == "running")
    })
    .await?;
    let dead = cluster.of(Role::Executor);
    for at in &dead {
        cluster.kill9(*at)?;
    }
    Ok(Begun { dead, submitted: vec![(id, "succeeded")] })
}

/// Submits what reaches `point`, each again and again under one key until it is answered.
pub async fn submit(
    customer: Option<&Customer>,
    point: &Point,
    tag: &str,
) -> anyhow::Result<Tasks> {
    let Some(customer) = customer else { return Ok(Vec::new()) };
    if point.of == Operation::Release {
        let ids = customer.submit_batch(&parent_of_many(), tag).await?;
        return Ok(ids.into_iter().map(|id| (id, "succeeded")).collect());
    }
    let mut submitted = Vec::new();
    for (number, (task, ends)) in tasks(point).into_iter().enumerate() {
        let id = customer.submit_until_answered(&task, &format!("{tag}-{number}")).await?;
        submitted.push((id, ends));
    }
    Ok(submitted)
}

/// A parent with more children than the statement that ends it releases, and one that waits for some of them.
fn parent_of_many() -> Vec<Value> {
    let child = json!({"run": {"noop": {}}, "depends_on": ["root"]});
    let last: Vec<usize> = (1..=300).collect();
    let mut tasks = vec![json!({"ref": "root", "run": {"noop": {}}})];
    tasks.extend(std::iter::repeat_n(child, 501));
    tasks.push(json!({"run": {"noop": {}}, "depends_on": last}));
    tasks
}

fn tasks(point: &Point) -> Vec<(Value, &'static str)> {
    match point.of {
        Operation::Execute => {
            let task = json!({"run": {"command": {"argv": ["/bin/true"]}}});
            vec![(task.clone(), "succeeded"), (task, "succeeded")]
        }
        Operation::Dispatch => {
            let later = json!({"run": {"noop": {}}, "delay": "200ms"});
            vec![
                (later.clone(), "succeeded"),
                (json!({"run": {"noop": {}}}), "succeeded"),
                (later, "succeeded"),
            ]
        }
        Operation::LetGo => {
            // Refused by every executor of the default pool before a connection is made.
            let refused = json!({"run": {"http": {"method": "GET", "url": "http://127.0.0.1:9/"}}, "max_attempts": 2,
                "retry": {"backoff": "constant", "initial": "0s", "jitter": false}});
            (0..4).map(|_| (refused.clone(), "failed")).collect()
        }
        Operation::Submit
        | Operation::Place
        | Operation::Settle
        | Operation::Reap
        | Operation::Release
        | Operation::Fire => {
            let noop = json!({"run": {"noop": {}}});
            (0..3).map(|_| (noop.clone(), "succeeded")).collect()
        }
    }
}
