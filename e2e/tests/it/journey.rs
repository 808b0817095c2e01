//! The whole way on real processes: everything submitted ends right, once, is billed by its attempts, and nothing stays reserved.

use e2e::{Cluster, Customer, Mix, Oracle, Role, Shape, UpCommand, usage_faults, watch_ports};
use serde_json::json;
use std::time::Duration;
use testkit::db::{SERVICE_PASSWORD, TestDatabase};
use testkit::ledger::Ledger;

const SOON: Duration = Duration::from_secs(30);
/// Slots of one executor of [`Shape::default`].
const SLOTS: i64 = 64;

/// With the lease term as shipped. At a third of it a disk that hangs for a second makes an executor look for another resource
/// manager, which takes back what was just assigned; here every attempt must run to its end.
fn shape() -> Shape {
    Shape::default().set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "15s")
}

/// The full figure is 5 000 tasks (`make chaos`); `make test` sends fewer.
async fn journey(tasks: usize) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(shape()).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let oracle = Oracle::of(&cluster);
    all_end_right(&customer, &oracle, &ledger, tasks).await?;
    // Nothing may stay reserved, in any dimension: a slot is a basic task's share of all five.
    oracle.free_again(3 * SLOTS, SOON).await?;
    for at in cluster.of(Role::Executor) {
        assert!(!cluster.process(at)?.log().contains("panicked"));
    }
    Ok(())
}

/// The same where all roles are one process.
async fn embedded_journey(tasks: usize) -> anyhow::Result<()> {
    let database = TestDatabase::new().await?;
    let settings = shape().settings;
    let mut command = UpCommand::new()?
        .arg("--database-url")
        .arg(database.owner_url())
        .env("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD);
    for (setting, value) in settings {
        command = command.env(&setting, &value);
    }
    let mut up = command.start().await?;
    assert_eq!(up.profile(), "embedded");
    let customer = up.customer()?;
    let ledger = Ledger::at(up.shared_folder().join("ledger"));
    let oracle = Oracle::on(&database);
    all_end_right(&customer, &oracle, &ledger, tasks).await?;
    oracle.free_again(SLOTS, SOON).await?;
    up.term(Duration::from_secs(20)).await?;
    assert!(!up.log().contains("anic at"), "{}", up.log());
    Ok(())
}

async fn all_end_right(
    customer: &Customer,
    oracle: &Oracle<'_>,
    ledger: &Ledger,
    tasks: usize,
) -> anyhow::Result<()> {
    let mix = Mix { commands: 4, fail_once_percent: 25, work: Duration::from_millis(5) };
    let load = async {
        let mut submitted =
            mix.submit(customer, ledger, (tasks, 250), Duration::from_secs(2)).await?;
        submitted.all.extend(of_other_sizes(customer).await?);
        oracle.drained(Duration::from_secs(180)).await?;
        Ok(submitted)
    };
    let (submitted, ports) = watch_ports(oracle, load).await?;
    assert_eq!(oracle.violations(&submitted, ledger).await?, Vec::<String>::new());
    assert_eq!(ports.faults, Vec::<String>::new());
    assert!(ports.most_at_once > 1, "no two leases were seen side by side: {ports:?}");
    let (faults, tiers) = usage_faults(oracle, customer).await?;
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(tiers, ["basic", "none", "premium", "regular"]);

    let not_charged = oracle.number("select count(*) from attempt where not charged").await?;
    assert_eq!(not_charged, 0, "every attempt ran to its end: {}", oracle.endings().await?);
    let retried = oracle
        .number("select count(*) from task_history where attempt = 2 and failures = 1")
        .await?;
    let fail_once = (0..tasks).filter(|number| mix.fails_once(*number)).count();
    assert_eq!(fail_once, tasks / 10);
    assert_eq!(
        usize::try_from(retried)?,
        fail_once,
        "a tenth of all failed once and then succeeded; attempts: {}",
        oracle.endings().await?
    );
    let ran = ledger.runs()?;
    assert_eq!(
        ran.completed(),
        submitted.commands.len() + fail_once,
        "no command ran more often than it had attempts"
    );

    let one = customer.get(&submitted.commands[0]).await?;
    assert_eq!(one["state"], "succeeded");
    Ok(())
}

/// A few noops of each other tier and of a size of their own, so that there is more than one bill.
async fn of_other_sizes(customer: &Customer) -> anyhow::Result<Vec<String>> {
    let run = json!({ "noop": { "sleep": "30ms" } });
    let mut tasks = vec![json!({ "run": run, "tier": "regular" }); 9];
    tasks.extend(vec![json!({ "run": run, "tier": "premium" }); 3]);
    let size = json!({ "cpu_millis": 100, "memory_mib": 100, "ports": 3 });
    tasks.extend(vec![json!({ "run": run, "resources": size }); 11]);
    customer.submit_batch(&tasks, "other-sizes").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mixed_load_ends_right_and_leaves_nothing_reserved() -> anyhow::Result<()> {
    journey(1000).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mixed_load_ends_right_where_all_roles_are_one_process() -> anyhow::Result<()> {
    embedded_journey(1000).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn five_thousand_mixed_tasks_end_right_and_leave_nothing_reserved() -> anyhow::Result<()>
    {
        super::journey(5000).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn five_thousand_mixed_tasks_end_right_where_all_roles_are_one_process()
    -> anyhow::Result<()> {
        super::embedded_journey(5000).await
    }
}
