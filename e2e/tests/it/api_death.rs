//! The api is killed amid requests, and customers ask again under the same key: each key is one task, and every
//! answer to it names that task.
//!
//! A reply that never came may or may not mean a commit. The kill is aimed: a volley of submits is in the air each time.

use e2e::{Cluster, Customer, Oracle, Role, Shape};
use rand::RngExt;
use runtime::clock;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// Submits in the air at each kill.
const VOLLEY: usize = 20;
const GIVE_UP: Duration = Duration::from_secs(30);

/// Asks under one key until an answer comes; counts the requests that got none.
async fn insist(
    customer: Arc<Customer>,
    key: String,
    unanswered: Arc<AtomicUsize>,
) -> anyhow::Result<(String, String)> {
    let task = json!({ "name": key, "run": { "noop": { "sleep": "0s" } } });
    let until = clock::monotonic() + GIVE_UP;
    loop {
        match customer.call("POST", "/v1/tasks", Some(&task), Some(&key)).await {
            Ok((200 | 201, answer)) => {
                let id =
                    answer["id"].as_str().ok_or_else(|| anyhow::anyhow!("no id in {answer}"))?;
                return Ok((key, id.to_owned()));
            }
            Ok((409 | 429 | 503, _)) => {}
            Ok((status, answer)) => anyhow::bail!("{key}: answered {status}: {answer}"),
            Err(_) => {
                unanswered.fetch_add(1, Ordering::Relaxed);
            }
        }
        anyhow::ensure!(clock::monotonic() < until, "{key}: no answer for {GIVE_UP:?}");
        clock::sleep(Duration::from_millis(20)).await;
    }
}

async fn volley(
    customer: &Arc<Customer>,
    first: usize,
    unanswered: &Arc<AtomicUsize>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut asking = JoinSet::new();
    for number in first..first + VOLLEY {
        asking.spawn(insist(Arc::clone(customer), format!("key-{number}"), Arc::clone(unanswered)));
    }
    let mut answers = BTreeMap::new();
    while let Some(answer) = asking.join_next().await {
        let (key, id) = answer??;
        answers.insert(key, id);
    }
    Ok(answers)
}

async fn one_task_a_key(keys: usize) -> anyhow::Result<()> {
    let one = |shape: Shape, role| shape.with(role, 1);
    let shape = [Role::Scheduler, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default(), one);
    let mut cluster = Cluster::start(shape).await?;
    let customer = Arc::new(Customer::sign_up(&cluster, "acme").await?);
    let unanswered = Arc::new(AtomicUsize::new(0));
    let apis = cluster.of(Role::Api);
    let mut answers = BTreeMap::new();
    for (round, first) in (0..keys).step_by(VOLLEY).enumerate() {
        // Every fourth time both, so that nobody is left to ask for a while.
        let victims = if round % 4 == 3 { apis.clone() } else { vec![apis[round % apis.len()]] };
        let pause = Duration::from_micros(rand::rng().random_range(0..15_000));
        let (answered, killed) = tokio::join!(volley(&customer, first, &unanswered), async {
            clock::sleep(pause).await;
            for at in &victims {
                cluster.kill9(*at)?;
            }
            for at in &victims {
                cluster.launch(*at)?;
                cluster.ready(*at).await?;
            }
            Ok::<_, anyhow::Error>(())
        });
        killed?;
        answers.extend(answered?);
        let again = volley(&customer, first, &unanswered).await?;
        assert!(
            again.iter().all(|(key, id)| answers.get(key) == Some(id)),
            "a key was answered with two ids"
        );
    }
    assert_eq!(answers.len(), keys);
    let lost = unanswered.load(Ordering::Relaxed);
    assert!(lost >= keys / VOLLEY, "only {lost} requests were cut off: the kills missed them");

    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(30)).await?;
    let submitted = e2e::Submitted { all: answers.into_values().collect(), commands: Vec::new() };
    let ledger = testkit::ledger::Ledger::at(cluster.folder().join("ledger"));
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    let named_twice =
        "select count(*) from (select name from task_spec group by name having count(*) > 1) d";
    assert_eq!(oracle.number(named_twice).await?, 0, "a key made two tasks");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    eprintln!("{keys} keys, {lost} requests cut off");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_one_task_however_often_the_api_dies() -> anyhow::Result<()> {
    one_task_a_key(300).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn five_thousand_keys_are_as_many_tasks_however_often_the_api_dies() -> anyhow::Result<()>
    {
        super::one_task_a_key(5000).await
    }
}
