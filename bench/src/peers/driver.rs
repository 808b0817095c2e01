//! Runs one phase of one peer.

use super::list::Peer;
use super::phase::Phase;
use anyhow::{Context, bail};
use runtime::clock;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

/// Drivers end by themselves long before.
const LIMIT: Duration = Duration::from_secs(400);

/// What a driver prints.
#[derive(Debug, Deserialize)]
pub struct Printed {
    /// Of the peer.
    pub version: String,
    /// By the keys of Berth's own figures.
    pub figures: BTreeMap<String, f64>,
}

/// With an empty database each time: what one phase leaves behind must not slow the next.
pub async fn run(peer: &Peer, phase: Phase, amount: u64) -> anyhow::Result<Printed> {
    let url = peer.engine.empty(peer.name).await?;
    let mut command = peer.command()?;
    if let (Phase::Graphs, Some(results)) = (phase, peer.results) {
        command.env("PEER_RESULTS", results.empty(peer.name).await?);
    }
    command.args([phase.name(), &amount.to_string(), &url]).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = clock::timeout(LIMIT, command.output()).await;
    let output = ended.with_context(|| format!("no end after {LIMIT:?}"))?;
    let output = output.context("starting the driver")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("the driver ended with {}: {}", output.status, tail(&errors));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("the driver printed `{line}`"))
}

/// The last lines, as one.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join(" / ")
}
