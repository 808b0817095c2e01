//! Tasks that start a process, in the isolation that this machine has: `true`, as fast as an executor starts them; and the same
//! isolation started in a loop, with nothing else around it.

use super::body;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use anyhow::{Context, ensure};
use runtime::clock::{self, Instant};
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;

const BATCH: u64 = 100;
/// Loops at once: a core each, on the machines this is meant for.
const LOOPS: usize = 2;
/// Places of the executor: as many as keep both cores busy, and no more.
const PLACES: &str = "8";
/// What a command sees of the system (`executor/src/isolation/bubblewrap.rs`), as far as starting it takes time.
const ISOLATION: [&str; 29] = [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/usr",
    "/usr",
    "--perms",
    "0755",
    "--dir",
    "/etc",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--perms",
    "1777",
    "--tmpfs",
    "/dev/shm",
    "--remount-ro",
    "/dev",
    "--perms",
    "1777",
    "--tmpfs",
    "/tmp",
    "--remount-ro",
    "/",
    "--",
];
const SYSTEM: [&str; 4] = ["/bin", "/sbin", "/lib", "/lib64"];

/// The loop and the executor in turn, `length` each.
pub async fn commands(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let raw = in_a_loop(length / 2).await?;
    let tasks = ((raw * length.as_secs_f64()) as u64 / BATCH).max(1) * BATCH;
    let mut shape = Rig::shape(0);
    shape = shape.set("BERTH_EXECUTOR__CPU_MILLIS", &places_of_cpu()?);
    let mut rig = Rig::of(shape).await?;
    let mut connections = rig.connections(1).await?;
    let body = body::commands(BATCH as usize);
    closed_loop(&mut connections, "/v1/tasks/batch", &body, 200, (None, tasks / BATCH)).await?;
    let before = rig.meter().await?.read();
    rig.add_executor().await?;
    let meter = rig.meter().await?;
    rig.drained(length * 10).await?;
    let cpu = meter.since(&before, tasks);
    rig.ended_well(tasks).await?;
    let span = rig
        .numbers("select extract(epoch from max(ended_at) - min(placed_at)) from attempt")
        .await?;
    let raw = (raw + in_a_loop(length / 2).await?) / 2.0;
    let ours = tasks as f64 / span[0].max(1e-3);
    Ok(vec![
        Measured::new("commands_per_s", ours).with_cpu(cpu),
        Measured::new("raw_commands_per_s", raw),
        Measured::new("commands_part_of_raw", ours / raw),
    ])
}

/// A basic task takes 250 millis.
fn places_of_cpu() -> anyhow::Result<String> {
    Ok((PLACES.parse::<u32>()? * 250).to_string())
}

/// Starts a second.
async fn in_a_loop(length: Duration) -> anyhow::Result<f64> {
    let until = clock::monotonic() + length;
    let began = clock::monotonic();
    let done = futures::future::try_join_all((0..LOOPS).map(|_| one_loop(until))).await?;
    Ok(done.iter().sum::<u64>() as f64 / began.elapsed().as_secs_f64())
}

async fn one_loop(until: Instant) -> anyhow::Result<u64> {
    let mut done = 0;
    while clock::monotonic() < until {
        let mut command = Command::new("bwrap");
        for folder in SYSTEM.into_iter().filter(|folder| Path::new(folder).exists()) {
            match std::fs::read_link(folder) {
                Ok(target) => command.arg("--symlink").arg(target).arg(folder),
                Err(_) => command.args(["--ro-bind", folder, folder]),
            };
        }
        let status = command.args(ISOLATION).arg("true").status().await;
        let status = status.context("starting bwrap; run scripts/setup")?;
        ensure!(status.success(), "bwrap ended with {status}");
        done += 1;
    }
    Ok(done)
}
