//! Two schedulers fire schedules; one is killed, or frozen, again and again. Nothing runs the tasks: how they are made is what counts.

use e2e::{Cluster, Role, Schedules, Shape};
use runtime::clock;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(10);
/// The longest that due times may wait because a scheduler has died.
const HOLE: Duration = Duration::from_secs(5);

/// Schedulers and nothing else.
async fn schedulers(count: usize) -> anyhow::Result<Cluster> {
    let shape = [Role::Api, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, 0));
    Cluster::start(shape.with(Role::Scheduler, count)).await
}

async fn check(schedules: &Schedules, cluster: &Cluster) -> anyhow::Result<()> {
    assert_eq!(schedules.faults(HOLE).await?, Vec::<String>::new());
    assert_eq!(schedules.left_out().await?, 0, "nothing was late enough to be a misfire");
    let late = schedules.lateness(Duration::ZERO).await?;
    eprintln!(
        "{} due times: p50 {:.1} ms late, p99 {:.0} ms, the last {:.0} ms",
        late.fired, late.p50, late.p99, late.max
    );
    assert!(late.max <= HOLE.as_secs_f64() * 1000.0, "{late:?}");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// Kills one of two every 5 s, in turn, while `rate` due times come a second.
async fn kills(rate: u32, length: Duration) -> anyhow::Result<()> {
    let mut cluster = schedulers(2).await?;
    let count = rate * u32::try_from(EVERY.as_secs())?;
    let lead = Duration::from_secs(3);
    let schedules = Schedules::store(&cluster, count, EVERY, lead, true).await?;
    let both = cluster.of(Role::Scheduler);
    let (began, mut killed) = (clock::monotonic(), 0_usize);
    clock::sleep(lead).await;
    while began.elapsed() < length {
        let at = both[killed % both.len()];
        cluster.kill9(at)?;
        cluster.launch(at)?;
        killed += 1;
        clock::sleep(Duration::from_secs(5)).await;
    }
    eprintln!("{killed} kills in {length:?} at {rate} due times a second");
    check(&schedules, &cluster).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_scheduler_costs_a_moment_and_no_due_time() -> anyhow::Result<()> {
    kills(200, Duration::from_secs(20)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_frozen_for_three_terms_writes_nothing_any_more() -> anyhow::Result<()> {
    let mut cluster = schedulers(2).await?;
    let schedules = Schedules::store(&cluster, 2000, EVERY, Duration::from_secs(3), true).await?;
    let both = cluster.of(Role::Scheduler);
    clock::sleep(Duration::from_secs(6)).await;
    for at in both {
        cluster.process(at)?.stop()?;
        clock::sleep(Duration::from_secs(9)).await;
        cluster.process(at)?.cont()?;
        clock::sleep(Duration::from_secs(4)).await;
    }
    check(&schedules, &cluster).await
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn two_schedulers_killed_in_turn_for_two_minutes_at_a_thousand_a_second()
    -> anyhow::Result<()> {
        super::kills(1000, Duration::from_secs(120)).await
    }
}
