//! The clocks of one of two schedulers and of the executor are a minute and a half off: the database's decides, so nothing
//! fires early or twice, and no lease ends that is alive.

use e2e::{Cluster, Role, Schedules, Shape, sum};
use runtime::clock;
use std::time::Duration;
use testkit::poll::until_some;
use testkit::{fake_time, psql};

const EVERY: Duration = Duration::from_secs(10);
const SOON: Duration = Duration::from_secs(10);
/// Due times a second.
const RATE: u32 = 40;
/// The longest that a due time may wait because the one with the wrong clock joined.
const HOLE: Duration = Duration::from_secs(5);

/// Starts the process again with a clock that is off, and sees that it is.
pub(crate) async fn skew(cluster: &mut Cluster, at: usize, seconds: i32) -> anyhow::Result<()> {
    let library = fake_time::library().unwrap_or_default();
    for (name, value) in fake_time::environment(&library, seconds) {
        cluster.set_of(at, name, value);
    }
    cluster.kill9(at)?;
    let before = cluster.process(at)?.log().len();
    cluster.launch(at)?;
    cluster.ready(at).await?;
    // The first line may be the addresses of the role, which has no time.
    let (process, of) = (cluster.process(at)?, chrono::DateTime::parse_from_rfc3339);
    let time = || {
        let log = process.log();
        let found = log[before..].split_whitespace().find_map(|word| of(word).ok());
        async move { found }
    };
    let at = until_some("a line of the log with its time", SOON, time).await?;
    let off = (at.to_utc() - clock::wall()).num_seconds();
    anyhow::ensure!(
        (off - i64::from(seconds)).abs() <= 30,
        "its clock is {off} s off and not {seconds}"
    );
    Ok(())
}

async fn wrong_clocks(seconds: i32, length: Duration) -> anyhow::Result<()> {
    if fake_time::library().is_none() {
        eprintln!("SKIPPED: libfaketime is not installed; scripts/setup installs it");
        return Ok(());
    }
    let shape = [(Role::Api, 0), (Role::ResourceManager, 1), (Role::Executor, 1)]
        .into_iter()
        .fold(Shape::default(), |shape, (role, count)| shape.with(role, count));
    let mut cluster = Cluster::start(shape.with(Role::Scheduler, 2)).await?;
    for at in [cluster.of(Role::Scheduler)[1], cluster.of(Role::Executor)[0]] {
        skew(&mut cluster, at, seconds).await?;
    }
    // Those that were killed for it have lapsed by then.
    clock::sleep(Duration::from_secs(7)).await;
    let url = cluster.database().owner_url().to_owned();
    let count = async |sql: &str| psql::number(&url, sql).await;
    let sessions = "select count(*) from executor_session where ended_at is not null";
    let (ended, lapsed) = (
        count(sessions).await?,
        sum(&mut cluster, Role::ResourceManager, "berth_lapsed_total", &[]).await?,
    );
    let all = RATE * u32::try_from(EVERY.as_secs())?;
    let schedules = Schedules::store(&cluster, all, EVERY, Duration::from_secs(3), true).await?;
    clock::sleep(Duration::from_secs(3) + length).await;
    assert_eq!(count("select count(distinct owner) from schedule_shard").await?, 2);
    assert_eq!(schedules.faults(HOLE).await?, Vec::<String>::new());
    assert_eq!(schedules.left_out().await?, 0);
    let late = schedules.lateness(Duration::from_secs(2)).await?;
    eprintln!(
        "clocks {seconds} s off for {length:?}: {} due times, p50 {:.1} ms late, p99 {:.0} ms",
        late.fired, late.p50, late.p99
    );
    assert!(late.p99 <= 1000.0, "{late:?}");
    // No lease has lapsed, and no session.
    assert_eq!(count(sessions).await?, ended);
    assert_eq!(sum(&mut cluster, Role::ResourceManager, "berth_lapsed_total", &[]).await?, lapsed);
    let lost = "select count(*) from attempt where outcome <> 'succeeded'";
    assert_eq!(count(lost).await?, 0, "each first attempt succeeded");
    let ran = "select count(distinct session_id) from attempt";
    assert_eq!(count(ran).await?, 1, "all under one session of the clock that is off");
    let wrong =
        "select count(*) from attempt where ended_at > clock_timestamp() or usage_ms > 30000";
    assert_eq!(count(wrong).await?, 0, "nothing that is billed is of the wrong clock");
    let waiting =
        "select count(*) from task where run_at < clock_timestamp() - interval '10 seconds'";
    assert_eq!(count(waiting).await?, 0, "all is run");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_and_a_half_ahead_makes_nothing_early_double_or_lost() -> anyhow::Result<()> {
    wrong_clocks(90, Duration::from_secs(15)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_and_a_half_behind_makes_nothing_late_double_or_lost() -> anyhow::Result<()> {
    wrong_clocks(-90, Duration::from_secs(15)).await
}

mod chaos {
    use std::time::Duration;

    const LENGTH: Duration = Duration::from_secs(300);

    #[tokio::test(flavor = "multi_thread")]
    async fn five_minutes_ahead_of_time() -> anyhow::Result<()> {
        super::wrong_clocks(90, LENGTH).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn five_minutes_behind_time() -> anyhow::Result<()> {
        super::wrong_clocks(-90, LENGTH).await
    }
}
