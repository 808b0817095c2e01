//! The audit is sealed within 10 s, whatever becomes of the schedulers.

use e2e::{Cluster, Role, Shape};
use runtime::clock;
use std::time::Duration;
use testkit::poll;

const PROMISED: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn each_row_is_sealed_within_ten_seconds_though_schedulers_are_killed() -> anyhow::Result<()>
{
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 0));
    let shape = shape.with(Role::Scheduler, 2).with(Role::Api, 1);
    let mut cluster = Cluster::start(shape).await?;
    // The first row is that of the operator's key.
    cluster.operator_key().await?;
    let schedulers = cluster.of(Role::Scheduler);
    let (mut rows, began) = (1, clock::monotonic());
    while began.elapsed() < PROMISED {
        for at in &schedulers {
            cluster.berth(&["admin", "tenant", "create", &format!("t{rows}")]).await?;
            rows += 1;
            cluster.kill9(*at)?;
            cluster.berth(&["admin", "tenant", "create", &format!("t{rows}")]).await?;
            rows += 1;
            cluster.launch(*at)?;
            cluster.ready(*at).await?;
        }
    }
    poll::until("the last row to be sealed", PROMISED, || async {
        let left = cluster.database().sql("select count(*) from audit_pending").await;
        left.is_ok_and(|left| left.trim() == "0")
    })
    .await?;
    // By the database's clock, of every row.
    let longest = cluster
        .database()
        .sql("select count(*) || '|' || extract(epoch from max(s.sealed_at - a.at)) from audit a join audit_seal s on s.audit_id = a.id")
        .await?;
    let (sealed, seconds) = longest.trim().split_once('|').unwrap_or_default();
    println!("{sealed} rows, the longest waited {seconds} s");
    assert_eq!(sealed.parse::<u32>()?, rows);
    assert!(rows >= 20, "{rows}");
    assert!(seconds.parse::<f64>()? <= PROMISED.as_secs_f64(), "{longest}");
    cluster.berth(&["admin", "audit", "verify"]).await?;
    Ok(())
}
