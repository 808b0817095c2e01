//! Makes the template database of a cluster: migrated once, by whichever test comes first.
//!
//! Called by `TestDatabase`. Tests are processes of their own, so the lock is Postgres's: an advisory lock held by a
//! psql session. The rule: a template is used only once it carries its final name, which it gets after the last
//! migration; one that a killed test left half-made has another name and is dropped.

use std::hash::{DefaultHasher, Hasher};
use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use super::urls;
use crate::{psql, settings};

/// The advisory lock all tests of a cluster take before they look for the template.
const LOCK: i64 = 0x0062_6572_7468;

/// Makes the database `copy` of the migrated template for the migrations as they are now, which is made when it is missing.
pub(super) async fn copy(
    admin_url: &str,
    service_password: &str,
    copy: &str,
) -> anyhow::Result<()> {
    let name = format!("berth_template_{:016x}", fingerprint()?);
    // In one session: each costs as much as a tenth of a database.
    let mut script = format!(
        "select count(*) as there from pg_database where datname = '{name}' \\gset
        \\if :there
        create database {copy} template {name} strategy file_copy;
        select 'made';
        \\endif"
    );
    if psql::run(admin_url, &script).await? == "made" {
        return Ok(());
    }
    make(admin_url, &name, service_password).await?;
    script = format!("create database {copy} template {name} strategy file_copy");
    psql::run(admin_url, &script).await.map(drop)
}

async fn make(admin_url: &str, name: &str, service_password: &str) -> anyhow::Result<()> {
    let lock = Lock::take(admin_url).await?;
    if !exists(admin_url, name).await? {
        let draft = format!("{name}_draft");
        psql::run(admin_url, &format!("drop database if exists {draft} with (force)")).await?;
        psql::run(admin_url, &format!("create database {draft}")).await?;
        migrate(&urls::with_database(admin_url, &draft)?, service_password)
            .await
            .context("migrating the template")?;
        psql::run(admin_url, &format!("alter database {draft} rename to {name}")).await?;
    }
    lock.release().await
}

async fn migrate(owner_url: &str, service_password: &str) -> anyhow::Result<()> {
    let settings = [("URL", owner_url), ("SERVICE_PASSWORD", service_password)];
    let settings =
        settings.map(|(name, value)| (format!("BERTH_DATABASE__{name}"), value.to_owned()));
    let database = runtime::config::load_from(None, settings)?.database;
    store::migrate::run(&database, store::migrate::How::default()).await?;
    // A copy is no restore.
    psql::run(owner_url, "update installation set place = null").await.map(drop)
}

async fn exists(admin_url: &str, name: &str) -> anyhow::Result<bool> {
    let count = psql::number(
        admin_url,
        &format!("select count(*) from pg_database where datname = '{name}'"),
    )
    .await?;
    Ok(count == 1)
}

/// Changes with any migration and with the day, so that a long-lived cluster never serves an old template: partitions are made
/// for the days ahead.
fn fingerprint() -> anyhow::Result<u64> {
    let mut files: Vec<_> = std::fs::read_dir(settings::workspace().join("migrations"))?
        .collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut hasher = DefaultHasher::new();
    for file in files {
        hasher.write(file.file_name().as_encoded_bytes());
        hasher.write(&std::fs::read(file.path())?);
    }
    hasher.write(runtime::clock::wall().date_naive().to_string().as_bytes());
    Ok(hasher.finish())
}

/// A session that holds the advisory lock until its input ends; if we die, its input ends too.
struct Lock(Child);

impl Lock {
    async fn take(admin_url: &str) -> anyhow::Result<Self> {
        let mut session = Command::new(psql::program())
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", admin_url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("starting psql; run scripts/setup")?;
        let input = session.stdin.as_mut().context("psql has no input")?;
        input
            .write_all(format!("select 'held' from pg_advisory_lock({LOCK});\n").as_bytes())
            .await?;
        input.flush().await?;
        let output = session.stdout.as_mut().context("psql has no output")?;
        let mut answer = String::new();
        BufReader::new(output).read_line(&mut answer).await?;
        if answer.trim() != "held" {
            bail!("the lock on the template was not granted: `{answer}`");
        }
        Ok(Self(session))
    }

    async fn release(mut self) -> anyhow::Result<()> {
        drop(self.0.stdin.take());
        self.0.wait().await?;
        Ok(())
    }
}
