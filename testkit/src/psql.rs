//! SQL for tests, through the `psql` program: only `store` may know sqlx.
//!
//! Called by `db`, by end-to-end checks and measurements. The rule: one call is one session; an SQL error is an
//! error here, with Postgres's own words.

use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Runs the statements in one session and returns the last rows: columns split by `|`, one row a line, no header.
pub async fn run(url: &str, sql: &str) -> anyhow::Result<String> {
    // By standard input, because a list of some thousand ids is too long for an argument.
    let mut psql = Command::new("psql")
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", url])
        .env("PGOPTIONS", "-c client_min_messages=warning")
        .env("PGCONNECT_TIMEOUT", "10")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting psql; run scripts/setup")?;
    let mut input = psql.stdin.take().context("psql has no input")?;
    // Written beside the reading, or both sides may wait; one that ends early says itself why.
    let (_written, output) = tokio::join!(
        async move {
            input.write_all(sql.as_bytes()).await?;
            input.shutdown().await
        },
        psql.wait_with_output()
    );
    let output = output.context("running psql")?;
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
