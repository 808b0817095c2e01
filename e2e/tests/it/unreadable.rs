//! What an executor cannot read ends its task `failed`, and the tasks of others go on.

use e2e::{Cluster, Customer, Oracle, Role, Shape, sum};
use serde_json::json;
use std::time::Duration;

/// Of `task_spec`: JSON that is cut off, values of another kind, and no spec at all.
const SPOILT: [&str; 3] = [
    r#"update task_spec set run = '{"noop":' where name = 'bad-0'"#,
    r#"update task_spec set run = '{"command":{"argv":7}}' where name = 'bad-1'"#,
    "delete from task_spec where name = 'bad-2'",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_no_executor_can_read_ends_failed_and_others_go_on() -> anyhow::Result<()> {
    let shape = Shape::default()
        .with(Role::Api, 1)
        .with(Role::Scheduler, 1)
        .with(Role::ResourceManager, 1)
        .with(Role::Executor, 1);
    let mut cluster = Cluster::start(shape).await?;
    let good = Customer::sign_up(&cluster, "good").await?;
    let bad = Customer::sign_up(&cluster, "bad").await?;
    // Spoilt while it waits for its time.
    for number in 0..SPOILT.len() {
        let name = format!("bad-{number}");
        let task = json!({"name": name, "run": {"noop": {}}, "delay": "3s", "max_attempts": 1});
        bad.submit_until_answered(&task, &name).await?;
    }
    cluster.database().sql(&SPOILT.join(";")).await?;
    for number in 0..50 {
        let task = json!({"name": "good", "run": {"noop": {"sleep": "20ms"}}});
        good.submit_until_answered(&task, &format!("good-{number}")).await?;
    }
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;
    let failed = "select count(*) from task_history where state = 'failed' and reason like 'malformed run: %'";
    assert_eq!(oracle.number(failed).await?, i64::try_from(SPOILT.len())?);
    let succeeded = "select count(*) from task_history where state = 'succeeded'";
    assert_eq!(oracle.number(succeeded).await?, 50);
    // Their owner sees why.
    let (status, shown) = bad.call("GET", "/v1/tasks?limit=100", None, None).await?;
    assert_eq!(status, 200, "{shown}");
    assert!(shown.to_string().contains("malformed run: "), "{shown}");

    assert_eq!(cluster.panicked(), Vec::<String>::new());
    for role in Role::ALL {
        let panics = sum(&mut cluster, role, "berth_tick_total", &["result=\"panic\""]).await?;
        assert_eq!(panics, 0.0, "{role:?}");
        assert_eq!(sum(&mut cluster, role, "berth_task_panics_total", &[]).await?, 0.0, "{role:?}");
    }
    Ok(())
}
