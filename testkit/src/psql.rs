//! SQL for tests, through the `psql` program: only `store` may know sqlx.
//!
//! Called by `db`, by end-to-end checks and measurements. The rule: one call is one session, but for a [`Session`]; an SQL
//! error is an error here, with Postgres's own words.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, bail};
use runtime::clock;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// What no test selects.
const DONE: &str = "-- psql has done what it was told --";

/// Runs the statements in one session and returns the last rows: columns split by `|`, one row a line, no header.
pub async fn run(url: &str, sql: &str) -> anyhow::Result<String> {
    // By standard input, because a list of some thousand ids is too long for an argument.
    let mut psql = start(url, "warning")?;
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

/// The program itself where Debian has it: what is in the path there is a script that looks for it, at seven times the cost, and tests
/// run it thousands of times.
pub fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let version = |folder: &std::fs::DirEntry| folder.file_name().to_str()?.parse().ok();
        let newest = versions
            .filter_map(|folder| Some((version(&folder)?, folder.path().join("bin/psql"))))
            .filter(|(_, program)| program.is_file())
            .max_by_key(|(version, _): &(u32, _)| *version);
        newest.map_or_else(|| PathBuf::from("psql"), |(_, program)| program)
    })
}

fn start(url: &str, told: &str) -> anyhow::Result<Child> {
    Command::new(program())
        .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", url])
        .env("PGOPTIONS", format!("-c client_min_messages={told}"))
        .env("PGCONNECT_TIMEOUT", "10")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting psql; run scripts/setup")
}

/// A session that is asked again and again: a new one for each look would cost a processor more than what is looked at.
pub struct Session {
    input: ChildStdin,
    rows: Lines<BufReader<ChildStdout>>,
    errors: ChildStderr,
    _psql: Child,
}

impl Session {
    /// Starts to connect; whether it can, the first question tells.
    pub fn open(url: &str) -> anyhow::Result<Self> {
        // Nobody reads warnings, and unread ones would stop it one day.
        let mut psql = start(url, "error")?;
        let input = psql.stdin.take().context("psql has no input")?;
        let rows = BufReader::new(psql.stdout.take().context("psql has no output")?).lines();
        let errors = psql.stderr.take().context("psql has no errors")?;
        Ok(Self { input, rows, errors, _psql: psql })
    }

    /// The one row of a statement that always answers with one, columns split by `|`. After an error the session is over.
    pub async fn row(&mut self, sql: &str) -> anyhow::Result<String> {
        // One that has ended says itself why.
        let _written = self.input.write_all(format!("{sql};\n").as_bytes()).await;
        match self.rows.next_line().await? {
            Some(row) => Ok(row),
            None => self.ended().await,
        }
    }

    /// As [`run`], and leaves the session as new: no transaction, no settings, no temporary tables. After an error it is over.
    pub async fn run(&mut self, sql: &str) -> anyhow::Result<String> {
        let script = format!("{sql}\n;\nrollback;\ndiscard all;\nselect '{DONE}';\n");
        let (input, rows) = (&mut self.input, &mut self.rows);
        let answer = async {
            let mut answer: Vec<String> = Vec::new();
            while let Some(row) = rows.next_line().await? {
                if row == DONE {
                    return Ok(Some(answer));
                }
                answer.push(row);
            }
            anyhow::Ok(None)
        };
        // Written beside the reading, or both sides may wait.
        let (_written, answer) = tokio::join!(input.write_all(script.as_bytes()), answer);
        match answer? {
            Some(answer) => Ok(answer.join("\n").trim_end().to_owned()),
            None => self.ended().await,
        }
    }

    /// True where it is there to be asked.
    pub async fn answers(&mut self) -> bool {
        let one = clock::timeout(Duration::from_secs(10), self.row("select 1")).await;
        one.is_ok_and(|one| one.is_ok_and(|one| one == "1"))
    }

    async fn ended<T>(&mut self) -> anyhow::Result<T> {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).await?;
        bail!("psql: {}", said.trim())
    }
}

/// The one number a statement answers with.
pub async fn number(url: &str, sql: &str) -> anyhow::Result<i64> {
    let answer = run(url, sql).await?;
    answer.parse().with_context(|| format!("`{sql}` answered `{answer}`, not a number"))
}
