//! SQL for tests, through the `psql` program: only `store` may know sqlx.
//!
//! Called by `db`, by end-to-end checks and measurements. The rule: one call is one session; an SQL error is an
//! error here, with Postgres's own words.

use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::process::Command;

/// Runs the statements in one session and returns the last rows: columns split by `|`, one row a line, no header.
pub async fn run(url: &str, sql: &str) -> anyhow::Result<String> {
    let output = Command::new("psql")
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", url])
        .env("PGOPTIONS", "-c client_min_messages=warning")
        .env("PGCONNECT_TIMEOUT", "10")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .context("starting psql; run scripts/setup")?;
    if !output.status.success() {
        bail!("psql: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// The one number a statement answers with.
pub async fn number(url: &str, sql: &str) -> anyhow::Result<i64> {
    let answer = run(url, sql).await?;
    answer.parse().with_context(|| format!("`{sql}` answered `{answer}`, not a number"))
}
