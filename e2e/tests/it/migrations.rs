//! `berth migrate`, killed while it migrates.

use anyhow::ensure;
use std::path::Path;
use std::process::Stdio;
use testkit::db::{SERVICE_PASSWORD, TestDatabase};
use testkit::{program, psql};
use tokio::process::Command;

const APPLIED: &str = "select count(*) from _sqlx_migrations";

fn migrate(program: &Path, database: &TestDatabase) -> Command {
    let mut command = Command::new(program);
    command
        .arg("migrate")
        .env("BERTH_DATABASE__URL", database.owner_url())
        .env("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD)
        .stdout(Stdio::null())
        .kill_on_drop(true);
    command
}

/// The whole schema with its grants and policies.
async fn schema(database: &TestDatabase) -> anyhow::Result<String> {
    let dump = psql::program().with_file_name("pg_dump");
    let dump =
        Command::new(dump).args(["--schema-only", "-d", database.owner_url()]).output().await?;
    ensure!(dump.status.success(), "pg_dump: {}", String::from_utf8_lossy(&dump.stderr));
    // A line that is another in each dump of newer releases.
    let kept = String::from_utf8(dump.stdout)?;
    Ok(kept.lines().filter(|line| !line.contains("restrict ")).collect::<Vec<_>>().join("\n"))
}

/// Killed as often as there are migrations, each time when one more is there, or in the middle of the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_migration_is_taken_up_where_it_stopped() -> anyhow::Result<()> {
    let program = program::find("cli", "berth")?;
    let (whole, database) = tokio::try_join!(TestDatabase::new(), TestDatabase::unmigrated())?;
    let all = psql::number(whole.owner_url(), APPLIED).await?;
    let mut looks = database.session()?;
    let mut kills = 0;
    for wanted in 1..=all {
        let mut migrating = migrate(&program, &database).spawn()?;
        loop {
            if let Some(status) = migrating.try_wait()? {
                ensure!(status.success(), "with {wanted} of {all} to come: {status}");
                break;
            }
            let there = "select count(*) from pg_tables where tablename = '_sqlx_migrations'";
            if looks.run(there).await? == "1" && looks.run(APPLIED).await?.parse::<i64>()? >= wanted
            {
                migrating.kill().await?;
                kills += 1;
                break;
            }
        }
    }
    ensure!(kills >= all / 2, "only {kills} of {all} were killed in time");
    let status = migrate(&program, &database).status().await?;
    ensure!(status.success(), "after {kills} kills: {status}");
    assert_eq!(psql::number(database.owner_url(), APPLIED).await?, all);
    assert_eq!(schema(&database).await?, schema(&whole).await?);
    Ok(())
}
