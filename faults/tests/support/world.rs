//! The processes, the file that they read their faults from, and the check at the end.

use super::deeds;
use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Schedules, Shape};
use faults::{Action, Operation, Point};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;
use testkit::poll;
use testkit::process::RoleProcess;

/// A fault is met, or a process dead, within this.
const SOON: Duration = Duration::from_secs(20);
/// All that was submitted has ended within this.
const ENDED: Duration = Duration::from_secs(30);
/// Due times are at most so late.
const BEHIND: Duration = Duration::from_secs(5);

pub struct World {
    cluster: Cluster,
    customer: Option<Customer>,
    schedules: Option<Schedules>,
    faults: PathBuf,
    /// Ids, each with the state in which it must end.
    tasks: Vec<(String, &'static str)>,
    attacks: usize,
    _folder: tempfile::TempDir,
}

impl World {
    pub async fn start(operation: Operation) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let faults = folder.path().join("faults");
        fs::write(&faults, "")?;
        // Everything that stands behind a step comes soon, so that many can be attacked.
        let mut shape = Shape::default()
            .set("BERTH_FAULTS_FILE", faults.to_string_lossy())
            .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", "3s")
            .set("BERTH_SCHEDULER__BATCHER_LEASE", "1s")
            .set("BERTH_SCHEDULER__SWEEP_AGE", "1s")
            .set("BERTH_BUS__HINT_TTL", "1s")
            .set("BERTH_RESOURCE_MANAGER__RETRY_BURST", "1")
            .set("BERTH_RESOURCE_MANAGER__BREAKER_FAILURES", "2")
            .set("BERTH_RESOURCE_MANAGER__BREAKER_PROBE_INTERVAL", "300ms");
        let only_fires = matches!(operation, Operation::Fire | Operation::Start);
        for role in Role::ALL {
            let wanted = (!only_fires || role == Role::Scheduler)
                && (operation != Operation::Complete || role != Role::Executor);
            shape = shape.with(role, usize::from(wanted));
        }
        let mut cluster = Cluster::start(shape).await?;
        if operation == Operation::Complete {
            // Calls go to this test; an executor learns of it when it joins.
            cluster.berth(&["admin", "pool", "set", "default", "--private-targets", "on"]).await?;
            cluster.join(Role::Executor).await?;
        }
        let (customer, schedules) = if only_fires {
            let (every, lead) = (Duration::from_secs(1), Duration::from_secs(2));
            let schedules = if operation == Operation::Fire {
                Schedules::store(&cluster, 20, every, lead, true).await?
            } else {
                Schedules::store_runs(&cluster, 20, every, lead).await?
            };
            (None, Some(schedules))
        } else {
            (Some(Customer::sign_up(&cluster, "acme").await?), None)
        };
        Ok(Self {
            cluster,
            customer,
            schedules,
            faults,
            tasks: Vec::new(),
            attacks: 0,
            _folder: folder,
        })
    }

    /// One fault at one point, while something is done that reaches it; then all goes on to its end.
    pub async fn attack(&mut self, point: &Point, action: Action) -> anyhow::Result<()> {
        self.attacks += 1;
        let tag = format!("{}-{}", point.name, self.attacks);
        let at = self.cluster.of(role_of(point.name)?)[0];
        let met = format!("Injecting a fault at `{}`", point.name);
        let kills = action == Action::Kill;
        let before = self.cluster.process(at)?.log().matches(&met).count();
        let begun = deeds::begin(&mut self.cluster, self.customer.as_ref(), point, &tag).await?;
        let plan = format!("{}={}\n", point.name, if kills { "kill" } else { "error" });
        fs::write(&self.faults, plan)?;
        let submits = deeds::submit(self.customer.as_ref(), point, &tag);
        let (mut submits, mut submitted) = (pin!(submits), None);
        {
            let mut met = pin!(meet(self.cluster.process(at)?, kills, (met, before)));
            loop {
                tokio::select! {
                    answered = &mut submits, if submitted.is_none() => submitted = Some(answered?),
                    met = &mut met => break met?,
                }
            }
        }
        fs::write(&self.faults, "")?;
        // It comes back while whoever asks still asks.
        for at in begun.dead.into_iter().chain(kills.then_some(at)) {
            self.cluster.launch(at)?;
            self.cluster.ready(at).await?;
        }
        self.tasks.extend(begun.submitted);
        self.tasks.extend(match submitted {
            Some(submitted) => submitted,
            None => submits.await?,
        });
        if self.customer.is_some() {
            Oracle::of(&self.cluster).drained(ENDED).await?;
        }
        Ok(())
    }

    /// What must hold whatever was done.
    pub async fn end(self) -> anyhow::Result<()> {
        let oracle = Oracle::of(&self.cluster);
        if let Some(schedules) = &self.schedules {
            poll::until("the schedules to be up to date", SOON, || async {
                schedules.faults(BEHIND).await.is_ok_and(|faults| faults.is_empty())
            })
            .await?;
            assert_eq!(schedules.faults(BEHIND).await?, Vec::<String>::new());
            assert_eq!(schedules.left_out().await?, 0, "nothing was late enough to be a misfire");
        } else {
            assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
            // Without the items that nodes became: they are known when they are made.
            let all = "select count(*) from task_history h join task_spec s on s.id = h.id where s.node is null or s.node not like '%[%'";
            let all = oracle.number(all).await?;
            assert_eq!(all, i64::try_from(self.tasks.len())?, "one task each, and no other");
            for (id, wanted) in &self.tasks {
                let id = id.trim_start_matches("task_");
                let sql = format!("select state from task_history where id = '{id}'");
                assert_eq!(oracle.rows(&sql).await?, [[(*wanted).to_owned()]], "{id}");
            }
        }
        assert_eq!(self.cluster.panicked(), Vec::<String>::new());
        Ok(())
    }
}

/// Waits until the process has died of the fault, or has met it more often than before.
async fn meet(
    process: &mut RoleProcess,
    kills: bool,
    (met, before): (String, usize),
) -> anyhow::Result<()> {
    if kills {
        let signal = ExitStatusExt::signal(&process.wait(SOON).await?);
        anyhow::ensure!(signal == Some(6), "it ended otherwise: {signal:?}");
        return Ok(());
    }
    poll::until("the fault", SOON, || {
        let seen = process.log().matches(&met).count() > before;
        async move { seen }
    })
    .await
}

/// Whose point it is.
fn role_of(point: &str) -> anyhow::Result<Role> {
    let (role, _) = point.split_once('.').context("a point without a crate")?;
    Ok(match role {
        "api" => Role::Api,
        // The hints that are attacked are the batcher's.
        "scheduler" | "bus" => Role::Scheduler,
        "resource_manager" => Role::ResourceManager,
        "executor" => Role::Executor,
        _ => anyhow::bail!("`{role}` is no role"),
    })
}
