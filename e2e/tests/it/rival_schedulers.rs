//! Three schedulers that each believe they lead, because the database tells each of them so: nothing is made twice. Then all but one
//! are killed.
//!
//! Each has tables of ownership of its own, in a schema that only it sees: no fence holds between them, and nothing is left but the
//! keys of what they write.

use e2e::{Cluster, Role, Schedules, Shape, batcher, metric};
use runtime::clock;
use std::time::Duration;
use testkit::{poll, psql};

const EVERY: Duration = Duration::from_secs(10);
const HOLE: Duration = Duration::from_secs(5);
const LEAD: Duration = Duration::from_secs(4);
/// Who owns what, and for how long.
const OWNERSHIP: [&str; 3] = ["schedule_shard", "scheduler_node", "leadership"];

async fn schedulers(count: usize) -> anyhow::Result<Cluster> {
    let shape = [Role::Api, Role::ResourceManager, Role::Executor]
        .into_iter()
        .fold(Shape::default(), |shape, role| shape.with(role, 0));
    Cluster::start(shape.with(Role::Scheduler, count)).await
}

/// Gives a scheduler tables of its own by which it owns everything, and starts it again.
async fn set_apart(cluster: &mut Cluster, at: usize) -> anyhow::Result<()> {
    let url = cluster.database().owner_url().to_owned();
    let schema = format!("apart_{at}");
    let mut sql =
        format!("create schema {schema}; grant usage on schema {schema} to berth_scheduler;");
    for table in OWNERSHIP {
        sql += &format!(
            "create table {schema}.{table} (like public.{table} including all);
            insert into {schema}.{table} select * from public.{table};
            grant select, insert, update, delete on {schema}.{table} to berth_scheduler;"
        );
    }
    sql += &format!(
        "delete from {schema}.scheduler_node; update {schema}.schedule_shard set owner = null;
        update {schema}.leadership set holder = null, expires_at = '-infinity'"
    );
    psql::run(&url, &sql).await?;
    let mark = if url.contains('?') { '&' } else { '?' };
    let path = format!("{url}{mark}options=-c%20search_path%3D{schema},public");
    cluster.set_of(at, "BERTH_DATABASE__URL", path);
    cluster.kill9(at)?;
    cluster.launch(at)?;
    cluster.ready(at).await
}

async fn rivals(rate: u32, length: Duration) -> anyhow::Result<()> {
    let mut cluster = schedulers(3).await?;
    let all = cluster.of(Role::Scheduler);
    for at in &all {
        set_apart(&mut cluster, *at).await?;
    }
    let count = rate * u32::try_from(EVERY.as_secs())?;
    let schedules = Schedules::store(&cluster, count, EVERY, LEAD, true).await?;
    clock::sleep(LEAD + length).await;
    let mut each = Vec::new();
    for at in &all {
        let leads = metric(&mut cluster, *at, "berth_batcher_leads", &[]).await?;
        let shards = metric(&mut cluster, *at, "berth_schedule_shards", &[]).await?;
        let fired = metric(&mut cluster, *at, "berth_fires_total", &[]).await?;
        assert_eq!((leads, shards), (1.0, 64.0), "each leads and owns all");
        each.push(fired);
    }
    assert_eq!(schedules.faults(HOLE).await?, Vec::<String>::new());
    assert_eq!(schedules.left_out().await?, 0);
    let late = schedules.lateness(Duration::ZERO).await?;
    eprintln!(
        "three that lead, for {length:?}: {} due times, fired by each {each:?}; p99 {:.0} ms late",
        late.fired, late.p99
    );
    assert!(each.iter().all(|fired| *fired > 0.0), "each has fired some: {each:?}");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn three_that_each_own_everything_make_nothing_twice() -> anyhow::Result<()> {
    rivals(100, Duration::from_secs(10)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_of_three_has_everything_within_five_seconds() -> anyhow::Result<()> {
    let mut cluster = schedulers(3).await?;
    let schedules = Schedules::store(&cluster, 1000, EVERY, LEAD, true).await?;
    clock::sleep(LEAD * 2).await;
    // The batcher is among those that die.
    let leads = batcher(&mut cluster).await?;
    let mut others = cluster.of(Role::Scheduler);
    others.retain(|at| *at != leads);
    let last = others[0];
    let died = clock::monotonic();
    for at in [leads, others[1]] {
        cluster.kill9(at)?;
    }
    let url = cluster.database().owner_url().to_owned();
    // Who is dead owns nothing any more.
    let owned =
        "select count(distinct owner) = 1 and bool_and(owner is not null) from schedule_shard";
    poll::until("one owns all shards", HOLE, || async {
        psql::run(&url, owned).await.is_ok_and(|answer| answer.trim() == "t")
    })
    .await?;
    let shards = died.elapsed();
    assert_eq!(batcher_of(&mut cluster, last).await?, 1.0, "it hands out, too");
    let took = died.elapsed();
    eprintln!("all shards after {shards:?}, the batcher after {took:?}");
    assert!(took <= HOLE, "{took:?}");
    clock::sleep(Duration::from_secs(4)).await;
    assert_eq!(schedules.faults(HOLE).await?, Vec::<String>::new());
    assert_eq!(schedules.left_out().await?, 0);
    let late = schedules.lateness(Duration::ZERO).await?;
    assert!(late.max <= HOLE.as_secs_f64() * 1000.0, "{late:?}");
    Ok(())
}

/// Waits until it leads, for as long as a takeover may take.
async fn batcher_of(cluster: &mut Cluster, at: usize) -> anyhow::Result<f64> {
    let began = clock::monotonic();
    loop {
        let leads = metric(cluster, at, "berth_batcher_leads", &[]).await?;
        if leads >= 1.0 || began.elapsed() > HOLE {
            return Ok(leads);
        }
        clock::sleep(Duration::from_millis(20)).await;
    }
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn three_that_each_own_everything_make_nothing_twice_for_five_minutes()
    -> anyhow::Result<()> {
        super::rivals(200, Duration::from_secs(300)).await
    }
}
