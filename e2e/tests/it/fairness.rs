//! Who goes next, on real processes: one tenant's flood delays nobody else, and what is urgent does not stand behind what is not.
//!
//! With `SCALE=1` at the sizes that are promised: a million tasks of one tenant beside nine others, and 10 000 urgent tasks
//! behind 100 000.

use e2e::{Cluster, Customer, Oracle, Role, Shape, batcher};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::psql;
use testkit::settings::rounds;

const LIGHT: usize = 9;
/// What the light tenants may wait at most, where they wait less than half of it without a flood.
const LIGHT_MS: i64 = 250;
const BATCH: usize = 1000;
/// Stretches with the flood alone, and with all.
const PAIRS: usize = 3;

fn noop(name: &str, sleep: &str, tolerance: &str) -> Value {
    json!({ "name": name, "run": { "noop": { "sleep": sleep } }, "delay_tolerance": tolerance })
}

/// One of each role; room for 32 basic tasks.
fn small() -> Shape {
    Shape::default()
        .with(Role::Api, 1)
        .with(Role::Scheduler, 1)
        .with(Role::ResourceManager, 1)
        .with(Role::Executor, 1)
        .set("BERTH_EXECUTOR__CPU_MILLIS", "8000")
}

async fn submit(customer: &Customer, task: &Value, count: usize, name: &str) -> anyhow::Result<()> {
    let batch = vec![task.clone(); BATCH.min(count)];
    for number in 0..count.div_ceil(BATCH) {
        let size = BATCH.min(count - number * BATCH);
        customer.submit_batch(&batch[..size], &format!("{name}-{number}")).await?;
    }
    Ok(())
}

/// Each of `tenants` submits one task a second for `seconds`, one after the other.
async fn trickle(
    tenants: &[Customer],
    name: &str,
    part: usize,
    seconds: usize,
) -> anyhow::Result<()> {
    let task = noop(name, "100ms", "10s");
    let began = clock::monotonic();
    let every = Duration::from_secs(1) / u32::try_from(tenants.len())?;
    for number in 0..seconds * tenants.len() {
        clock::sleep_until(began + every * u32::try_from(number)?).await;
        let tenant = &tenants[number % tenants.len()];
        tenant.submit_until_answered(&task, &format!("{name}-{part}-{number}")).await?;
    }
    Ok(())
}

/// How long the tasks of this name waited: `share` of them no longer than this.
async fn waited_ms(oracle: &Oracle<'_>, name: &str, share: f64) -> anyhow::Result<i64> {
    let waited = "h.first_started_at - h.run_at";
    oracle
        .number(&format!(
            "select ceil(extract(epoch from percentile_disc({share}) within group (order by {waited})) * 1000)::bigint
                from task_history h join task_spec s on s.id = h.id where s.name = '{name}'"
        ))
        .await
}

/// When tasks of this name became due that waited longer than they may, since the first of them, and how long they waited.
async fn too_long(oracle: &Oracle<'_>, name: &str, limit_ms: i64) -> anyhow::Result<String> {
    let late = oracle
        .rows(&format!(
            "with all_of as (select h.run_at, h.first_started_at - h.run_at as waited, min(h.run_at) over () as first
                    from task_history h join task_spec s on s.id = h.id where s.name = '{name}')
                select round(extract(epoch from run_at - first), 2), round(extract(epoch from waited) * 1000) from all_of
                where waited > {limit_ms} * interval '1 ms' order by run_at limit 40"
        ))
        .await?;
    let describe = |row: &Vec<String>| format!("{} ms at {} s", row[1], row[0]);
    Ok(late.iter().map(describe).collect::<Vec<_>>().join(", "))
}

/// Attempts that end a second, while `work` is done.
async fn per_second(
    oracle: &Oracle<'_>,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<f64> {
    let now = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
    let from = oracle.number(now).await?;
    work.await?;
    let until = oracle.number(now).await?;
    let within =
        format!("ended_at between to_timestamp({from} / 1e6) and to_timestamp({until} / 1e6)");
    let ended = oracle.number(&format!("select count(*) from attempt where {within}")).await?;
    Ok(ended as f64 * 1e6 / (until - from) as f64)
}

/// As many tasks as are asked for may come at once, and wait.
const NO_LIMITS: &str = r#"update plan set limits = limits
    || '{"submits_per_second": 1000000, "submit_burst": 10000000, "submits_per_hour": 2000000000, "backlog": 100000000}'"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_one_tenant_delays_no_other() -> anyhow::Result<()> {
    let (flood, seconds) = (rounds(20_000, 1_000_000), rounds(12, 60));
    let cluster = Cluster::start(small()).await?;
    cluster.database().sql(NO_LIMITS).await?;
    let oracle = Oracle::of(&cluster);
    oracle.free_again(32, Duration::from_secs(20)).await?;
    let heavy = Customer::sign_up(&cluster, "heavy").await?;
    let mut light = Vec::new();
    for number in 0..LIGHT {
        light.push(Customer::sign_up(&cluster, &format!("light-{number}")).await?);
    }
    trickle(&light, "idle", 0, seconds).await?;
    oracle.drained(Duration::from_secs(10)).await?;
    let idle_ms = waited_ms(&oracle, "idle", 0.99).await?;

    submit(&heavy, &noop("flood", "100ms", "1h"), flood, "flood").await?;
    let (mut alone, mut together) = (0.0, 0.0);
    // In turn, so that what slows the machine slows both.
    for pair in 0..PAIRS {
        let rest = async {
            clock::sleep(Duration::from_secs(u64::try_from(seconds / PAIRS)?)).await;
            Ok(())
        };
        alone += per_second(&oracle, rest).await? / PAIRS as f64;
        let more = trickle(&light, "flooded", pair, seconds / PAIRS);
        together += per_second(&oracle, more).await? / PAIRS as f64;
    }
    let left =
        "select count(*) from task t join task_spec s on s.id = t.id where s.name = 'flooded'";
    let limit = Duration::from_secs(10);
    let done = async || oracle.number(left).await.is_ok_and(|n| n == 0);
    testkit::poll::until("the light tenants' tasks to end", limit, done).await?;
    let flooded_ms = waited_ms(&oracle, "flooded", 0.99).await?;
    let usual_ms = waited_ms(&oracle, "flooded", 0.5).await?;
    let behind = oracle.number("select count(*) from task where state = 'ready'").await?;
    eprintln!(
        "light tenants waited {idle_ms} ms alone and {flooded_ms} ms (p99; p50 {usual_ms} ms) beside a flood of which {behind} were left; \
         {alone:.0} tasks/s of the flood alone, {together:.0} of all together"
    );
    eprintln!("waited too long: {}", too_long(&oracle, "flooded", LIGHT_MS).await?);
    assert!(behind > 0, "no flood was left");
    assert!(flooded_ms <= LIGHT_MS.max(2 * idle_ms), "{flooded_ms} ms");
    assert!(together >= 0.95 * alone, "{together} of {alone}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn urgent_tasks_start_before_the_lax_ones_that_were_there_first() -> anyhow::Result<()> {
    let (lax, urgent) = (rounds(10_000, 100_000), rounds(1000, 10_000));
    let mut cluster = Cluster::start(small().with(Role::Executor, 0)).await?;
    cluster.database().sql(NO_LIMITS).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    submit(&customer, &noop("lax", "0s", "2h"), lax, "lax").await?;
    submit(&customer, &noop("urgent", "0s", "10m"), urgent, "urgent").await?;
    cluster.join(Role::Executor).await?;
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(120)).await?;
    let overtaken = oracle
        .number(
            "select count(*) from task_history h join task_spec s on s.id = h.id where s.name = 'lax' and h.first_started_at <
                (select max(u.first_started_at) from task_history u join task_spec x on x.id = u.id where x.name = 'urgent')",
        )
        .await?;
    // What is in the broker at the same time is in no order: the slots, and what ends within the batcher's horizon of 50 ms.
    let rate = "select (count(*) / extract(epoch from max(finished_at) - min(first_started_at)))::bigint from task_history";
    let at_once = 32 + oracle.number(rate).await? / 20;
    eprintln!(
        "{overtaken} of {lax} lax tasks started before the last of {urgent} urgent ones; {at_once} may"
    );
    assert!(overtaken <= at_once, "{overtaken} of {at_once}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn long_tasks_of_one_tenant_count_for_what_they_take() -> anyhow::Result<()> {
    let cluster = Cluster::start(small()).await?;
    let oracle = Oracle::of(&cluster);
    oracle.free_again(32, Duration::from_secs(20)).await?;
    let (long, short) =
        (Customer::sign_up(&cluster, "long").await?, Customer::sign_up(&cluster, "short").await?);
    // Both say the same of their tasks; one's take ten times as long.
    submit(&long, &noop("long", "1s", "1h"), 1000, "long").await?;
    submit(&short, &noop("short", "100ms", "1h"), 6000, "short").await?;
    // Estimates settle first.
    clock::sleep(Duration::from_secs(4)).await;
    let used = async |name: &str| {
        let of =
            format!("from attempt a join task_spec s on s.id = a.task_id where s.name = '{name}'");
        oracle.number(&format!("select coalesce(sum(usage_ms), 0)::bigint {of}")).await
    };
    let before = (used("long").await?, used("short").await?);
    clock::sleep(Duration::from_secs(10)).await;
    let after = (used("long").await?, used("short").await?);
    let (of_long, of_short) = ((after.0 - before.0) as f64, (after.1 - before.1) as f64);
    let part = of_long / (of_long + of_short);
    eprintln!("tasks of 1 s had {:.1} % of the time beside tasks of 100 ms", part * 100.0);
    assert!((0.42..=0.58).contains(&part), "{part}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batcher_that_takes_over_goes_on_with_the_shares_as_they_were() -> anyhow::Result<()> {
    let mut cluster = Cluster::start(small().with(Role::Scheduler, 2)).await?;
    let url = cluster.database().owner_url().to_owned();
    Oracle::of(&cluster).free_again(32, Duration::from_secs(20)).await?;
    let (long, short) =
        (Customer::sign_up(&cluster, "long").await?, Customer::sign_up(&cluster, "short").await?);
    submit(&long, &noop("long", "1s", "1h"), 1000, "long").await?;
    submit(&short, &noop("short", "100ms", "1h"), 8000, "short").await?;
    // Estimates settle first.
    clock::sleep(Duration::from_secs(5)).await;
    let at = batcher(&mut cluster).await?;
    let killed = psql::run(&url, "select clock_timestamp()").await?;
    cluster.kill9(at)?;
    cluster.launch(at)?;
    clock::sleep(Duration::from_secs(15)).await;
    let oracle = Oracle::of(&cluster);
    let hole_ms = oracle
        .number(&format!(
            "with placed as (select placed_at from attempt union all select placed_at from task where placed_at is not null)
                select ceil(extract(epoch from max(gap)) * 1000)::bigint from (
                    select placed_at - lag(placed_at) over (order by placed_at) as gap from placed
                    where placed_at > timestamptz '{killed}' - interval '1 s') g"
        ))
        .await?;
    // From when the next one may have taken over: what it knows of those before it decides who goes next.
    let used = async |name: &str| {
        oracle
            .number(&format!(
                "select coalesce(sum(usage_ms), 0)::bigint from attempt a join task_spec s on s.id = a.task_id
                    where s.name = '{name}' and a.ended_at > timestamptz '{killed}' + interval '5 s'"
            ))
            .await
    };
    let (of_long, of_short) = (used("long").await? as f64, used("short").await? as f64);
    let part = of_long / (of_long + of_short);
    eprintln!(
        "nothing was started for {hole_ms} ms; from then on tasks of 1 s had {:.1} % of the time beside tasks of 100 ms",
        part * 100.0
    );
    assert!(hole_ms <= 5000, "{hole_ms} ms");
    assert!((0.42..=0.58).contains(&part), "{part}");
    Ok(())
}
