//! Offset between the database clock and this program's clock.
//!
//! Queries several times over one session and uses the sample with the shortest round trip.

use anyhow::{Context, ensure};
use runtime::clock;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

/// Clock offset and its error bound, milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct ClockOffset {
    /// Database minus here.
    pub ms: f64,
    /// Half of the shortest round trip.
    pub uncertainty_ms: f64,
}

/// Measures it.
pub async fn measure(url: &str) -> anyhow::Result<ClockOffset> {
    let mut session = Command::new(testkit::psql::program())
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting psql; run scripts/setup")?;
    let mut input = session.stdin.take().context("psql has no input")?;
    let mut output = BufReader::new(session.stdout.take().context("psql has no output")?);
    let mut best: Option<ClockOffset> = None;
    for _ in 0..50 {
        let before = clock::wall();
        input.write_all(b"select extract(epoch from clock_timestamp()) * 1000;\n").await?;
        let mut line = String::new();
        output.read_line(&mut line).await?;
        let after = clock::wall();
        ensure!(!line.is_empty(), "psql ended early");
        let there: f64 = line.trim().parse().with_context(|| format!("`{line}` is no time"))?;
        let here = |at: domain::time::Timestamp| at.timestamp_micros() as f64 / 1e3;
        let found = ClockOffset {
            ms: there - f64::midpoint(here(before), here(after)),
            uncertainty_ms: (here(after) - here(before)) / 2.0,
        };
        if best.is_none_or(|best| found.uncertainty_ms < best.uncertainty_ms) {
            best = Some(found);
        }
    }
    best.context("no answer of the database's clock")
}
