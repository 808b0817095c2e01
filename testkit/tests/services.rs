//! Private engines: what is killed is dead, what was committed survives, nothing is left behind.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::poll;
use testkit::psql;
use testkit::services::{Engine, PrivatePostgres, PrivateRabbit};
use testkit::settings::rounds;

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Processes working inside the folder, found without testkit's own code.
fn working_in(folder: &Path) -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes
        .filter(|process| process.join("cwd").read_link().is_ok_and(|cwd| cwd.starts_with(folder)))
        .collect()
}

fn folder_of(engine: &Engine) -> PathBuf {
    let cwd = PathBuf::from(format!("/proc/{}/cwd", engine.pid().unwrap())).read_link().unwrap();
    let is_run = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("berth-services."))
    };
    cwd.ancestors().find(is_run).unwrap().to_owned()
}

async fn speaks_amqp(engine: &Engine) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let talk = async {
        let mut broker = tokio::net::TcpStream::connect(("127.0.0.1", engine.port())).await?;
        broker.write_all(b"AMQP\x00\x00\x09\x01").await?;
        broker.read_u8().await
    };
    matches!(tokio::time::timeout(Duration::from_secs(2), talk).await, Ok(Ok(1)))
}

#[tokio::test]
async fn postgres_keeps_what_was_committed_before_a_power_cut() {
    let mut postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    psql::run(&url, "create table kept (n int); insert into kept select generate_series(1, 1000)")
        .await
        .unwrap();
    let (pid, folder) = (postgres.pid().unwrap(), folder_of(&postgres));

    postgres.kill9().unwrap();
    assert!(!is_alive(pid));
    assert_eq!(working_in(&folder), Vec::<PathBuf>::new(), "the backends died with the postmaster");
    psql::run(&url, "select 1").await.unwrap_err();

    postgres.restart().await.unwrap();
    assert_eq!(postgres.url().unwrap(), url, "address and password stay");
    assert_eq!(psql::number(&url, "select count(*) from kept").await.unwrap(), 1000);
}

#[tokio::test]
async fn postgres_stops_cleanly_and_starts_again() {
    let mut postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    psql::run(&url, "create table kept (n int)").await.unwrap();
    postgres.stop().await.unwrap();
    assert_eq!(postgres.pid(), None);
    postgres.restart().await.unwrap();
    assert_eq!(psql::number(&url, "select count(*) from kept").await.unwrap(), 0);
}

#[tokio::test]
async fn postgres_runs_with_the_settings_measurements_rely_on() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    // With `SCALE=1` as much as the machine has for millions of rows.
    let usual = (rounds(1, 0) == 1).then_some(("shared_buffers", "256MB"));
    let settings = [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("max_connections", "300"),
        ("max_wal_size", "4GB"),
        ("min_wal_size", "1GB"),
        ("listen_addresses", "127.0.0.1"),
    ];
    for (setting, expected) in settings.into_iter().chain(usual) {
        assert_eq!(
            psql::run(&url, &format!("show {setting}")).await.unwrap(),
            expected,
            "{setting}"
        );
    }
}

#[tokio::test]
async fn a_frozen_postgres_answers_only_after_the_thaw() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let url = postgres.url().unwrap();
    postgres.freeze().unwrap();
    let asked = tokio::time::timeout(Duration::from_millis(500), psql::run(&url, "select 1")).await;
    assert!(asked.is_err(), "a frozen engine is silent, it does not refuse");
    postgres.thaw().unwrap();
    assert_eq!(psql::number(&url, "select 1").await.unwrap(), 1);
}

#[tokio::test]
async fn rabbitmq_comes_back_on_the_same_address_after_a_power_cut() {
    let mut rabbit = PrivateRabbit::start().await.unwrap();
    let (url, pid, folder) = (rabbit.url().unwrap(), rabbit.pid().unwrap(), folder_of(&rabbit));
    assert!(speaks_amqp(&rabbit).await);

    rabbit.kill9().unwrap();
    assert!(!is_alive(pid));
    assert!(!speaks_amqp(&rabbit).await);
    assert_eq!(working_in(&folder), Vec::<PathBuf>::new(), "epmd and the helpers are gone too");

    rabbit.restart().await.unwrap();
    assert_eq!(rabbit.url().unwrap(), url, "address and password stay");
    assert!(speaks_amqp(&rabbit).await);
    rabbit.stop().await.unwrap();
    assert_eq!(working_in(&folder), Vec::<PathBuf>::new(), "a clean stop leaves nothing either");
}

#[tokio::test]
async fn a_dropped_engine_leaves_no_process_and_no_folder() {
    let postgres = PrivatePostgres::start().await.unwrap();
    let (pid, folder) = (postgres.pid().unwrap(), folder_of(&postgres));
    drop(postgres);
    poll::until("the engine is gone", Duration::from_secs(5), || async { !is_alive(pid) })
        .await
        .unwrap();
    assert!(!folder.exists());
}
