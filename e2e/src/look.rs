//! What a test sees of running processes: their metrics, and the clock that the ledger is written by.

use crate::{Cluster, Role};
use anyhow::Context;
use runtime::clock;
use std::time::Duration;
use testkit::ledger::{Line, Mark};

/// The ledger's clock, in nanoseconds.
pub fn now_ns() -> anyhow::Result<i64> {
    Ok(Line::now("now", 1, Mark::Start)?.monotonic_ns)
}

/// Now, in milliseconds since 1970: by the clock of Postgres too, which runs on this machine.
pub fn now_ms() -> i64 {
    clock::wall().timestamp_millis()
}

/// What a process answers on a path of its probes, such as `/readyz`: status and text.
pub async fn page(cluster: &mut Cluster, at: usize, path: &str) -> anyhow::Result<(u16, String)> {
    let addresses = cluster.process(at)?.ready(Duration::from_secs(30)).await?;
    let address = addresses
        .get("health")
        .or_else(|| addresses.get("listen"))
        .context("it answers no probes")?;
    let _installed_before = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(Duration::from_secs(10)).no_proxy().build()?;
    let answer = client.get(format!("http://{address}{path}")).send().await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

/// The sum of a metric's samples at one process, over those whose line contains every text of `labels`; 0 where it
/// has none yet.
pub async fn metric(
    cluster: &mut Cluster,
    at: usize,
    name: &str,
    labels: &[&str],
) -> anyhow::Result<f64> {
    let (_, page) = page(cluster, at, "/metrics").await?;
    let samples = page.lines().filter(|line| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
            && labels.iter().all(|label| line.contains(label))
    });
    samples
        .map(|line| {
            line.rsplit(' ').next().unwrap_or("").parse::<f64>().with_context(|| line.to_owned())
        })
        .sum()
}

/// The same over all processes of a role.
pub async fn sum(
    cluster: &mut Cluster,
    role: Role,
    name: &str,
    labels: &[&str],
) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for at in cluster.of(role) {
        total += metric(cluster, at, name, labels).await?;
    }
    Ok(total)
}

/// Stops a process in its tracks for a while.
pub async fn freeze(cluster: &mut Cluster, at: usize, time: Duration) -> anyhow::Result<()> {
    cluster.process(at)?.stop()?;
    clock::sleep(time).await;
    cluster.process(at)?.cont()
}

/// The scheduler that is the batcher now, waited for 10 s at most.
///
/// # Errors
/// When none of those that run is.
pub async fn batcher(cluster: &mut Cluster) -> anyhow::Result<usize> {
    let began = clock::monotonic();
    loop {
        for at in cluster.of(Role::Scheduler) {
            if metric(cluster, at, "berth_batcher_leads", &[]).await? >= 1.0 {
                return Ok(at);
            }
        }
        anyhow::ensure!(
            began.elapsed() < Duration::from_secs(10),
            "nobody became the batcher within 10 s"
        );
        clock::sleep(Duration::from_millis(20)).await;
    }
}
