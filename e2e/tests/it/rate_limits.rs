//! Redis goes away under a tenant at three times its limit, and comes back.
//!
//! Three api processes; while Redis is away each holds its share. The long form is in `make chaos`.

use e2e::{Cluster, Customer, Role, Shape};
use futures::future::join_all;
use runtime::clock::{self, Instant};
use serde_json::json;
use std::time::Duration;
use testkit::poll::until_some;
use testkit::services::PrivateRedis;

const PER_SECOND: u32 = 150;
const SECOND: Duration = Duration::from_secs(1);
const WORKERS: usize = 10;
/// Tasks of a batch; every other request is one.
const BATCH: usize = 10;

/// What was admitted, and when.
struct Flow {
    began: Instant,
    admitted: Vec<(Duration, u64)>,
    asked: u64,
    faults: Vec<String>,
}

impl Flow {
    /// How far what was admitted is ahead of the limit, in tasks, at most between `from` and `to`.
    ///
    /// At the limit this is the same all the time. Answers that come late, all at once, lower it and bring it back to where it
    /// was, so that a pause of the machine is no burst.
    fn ahead(&self, from: Duration, to: Duration) -> f64 {
        let mut tasks = 0;
        let ahead = self.admitted.iter().map(|(at, more)| {
            tasks += more;
            (*at, tasks as f64 - at.as_secs_f64() * f64::from(PER_SECOND))
        });
        let within = ahead.filter(|(at, _)| (from..to).contains(at));
        within.map(|(_, ahead)| ahead).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Admitted between the seconds that begin at `from` and that end at `to`, as a share of the limit.
    fn share(&self, from: Duration, to: Duration) -> f64 {
        let more = self.ahead(to - SECOND, to) - self.ahead(from, from + SECOND);
        1.0 + more / ((to - from - SECOND).as_secs_f64() * f64::from(PER_SECOND))
    }

    /// What was admitted at once beyond the limit after `from`, as a share of a second's: 1 is nothing.
    fn burst(&self, from: Duration, to: Duration) -> f64 {
        1.0 + (self.ahead(from, to) - self.ahead(from - SECOND, from)) / f64::from(PER_SECOND)
    }
}

/// Sends three times the limit, singles and batches, until `until`.
async fn flood(customer: &Customer, began: Instant, until: Duration) -> Flow {
    let pause = Duration::from_secs_f64(
        (WORKERS * (BATCH + 1)) as f64 / (2.0 * 3.0 * f64::from(PER_SECOND)),
    );
    let worker = |worker: usize| async move {
        let mut flow = Flow { began, admitted: Vec::new(), asked: 0, faults: Vec::new() };
        let mut next = began + pause.mul_f64(worker as f64 / WORKERS as f64);
        let mut number = worker;
        while next < began + until {
            clock::sleep_until(next).await;
            next += pause;
            number += 1;
            let (path, tasks) = if number.is_multiple_of(2) {
                ("/v1/tasks", 1)
            } else {
                ("/v1/tasks/batch", BATCH)
            };
            let task = json!({"run": {"noop": {}}});
            let body = if tasks == 1 { task } else { json!({ "tasks": vec![task; tasks] }) };
            flow.asked += tasks as u64;
            match customer.call("POST", path, Some(&body), None).await {
                Ok((201, _)) => flow.admitted.push((began.elapsed(), 1)),
                Ok((200, answer)) => {
                    let accepted = answer["accepted"].as_u64().unwrap_or_default();
                    flow.admitted.push((began.elapsed(), accepted));
                }
                Ok((429, _)) => {}
                Ok((status, answer)) => flow.faults.push(format!("{status}: {answer}")),
                Err(error) => flow.faults.push(error.to_string()),
            }
        }
        flow
    };
    let flows = join_all((0..WORKERS).map(worker)).await;
    let mut all = Flow { began, admitted: Vec::new(), asked: 0, faults: Vec::new() };
    for flow in flows {
        all.admitted.extend(flow.admitted);
        all.asked += flow.asked;
        all.faults.extend(flow.faults);
    }
    all.admitted.sort_unstable();
    all
}

/// Whether each api process counts in Redis, or by its share.
async fn gauges(cluster: &Cluster, operator: &str) -> anyhow::Result<Vec<String>> {
    let (mut found, client) = (Vec::new(), reqwest::Client::new());
    for url in cluster.api_urls() {
        let asked = client.get(format!("{url}/metrics")).bearer_auth(operator);
        let text = asked.send().await?.text().await?;
        let of = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.rsplit(' ').next().unwrap_or_default().to_owned()
        };
        found.push(format!("{} {}", of("berth_limit_local "), of("berth_api_replicas ")));
    }
    Ok(found)
}

/// What a customer is told of its limit.
async fn policy(cluster: &Cluster, customer: &Customer) -> anyhow::Result<String> {
    let url = format!("{}/v1/limits", cluster.api_urls()[0]);
    let answer = reqwest::Client::new().get(url).bearer_auth(customer.key()).send().await?;
    Ok(format!("{:?}", answer.headers().get("ratelimit-policy")))
}

/// How Redis goes.
#[derive(Clone, Copy)]
enum Outage {
    /// With all it knows.
    Killed,
    /// It keeps its connections and its counts, and answers nothing.
    Frozen,
}

async fn redis_goes_and_comes_back(how: Outage, away: Duration) -> anyhow::Result<()> {
    let mut redis = PrivateRedis::start().await?;
    let shape = Shape::default()
        .with(Role::Api, 3)
        .with(Role::Scheduler, 0)
        .with(Role::ResourceManager, 0)
        .with(Role::Executor, 0)
        .set("BERTH_REDIS__URL", redis.url()?)
        // The processes share two cores with what floods them.
        .set("BERTH_REDIS__COMMAND_TIMEOUT", "250ms");
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "flood").await?;
    let plan = format!(
        r#"insert into plan (name, limits)
            select 'tested', limits || '{{"submits_per_second": {PER_SECOND}, "submit_burst": {PER_SECOND}}}'
            from plan where name = 'default';
        update tenant set plan = 'tested'"#
    );
    cluster.database().sql(&plan).await?;
    let create = ["admin", "operator-key", "create", "--name", "ann", "--scope", "read"];
    let operator = cluster.berth(&create).await?.trim().to_owned();
    let all = |wanted: &'static str| {
        let (cluster, operator) = (&cluster, &operator);
        move || async move {
            let found = gauges(cluster, operator).await.ok()?;
            found.iter().all(|found| found == wanted).then_some(())
        }
    };
    until_some("three processes that count in Redis", Duration::from_secs(30), all("0 3")).await?;

    // 3 s for the burst to be gone, the outage, and 6 s afterwards.
    let (calm, after) = (Duration::from_secs(5), Duration::from_secs(6));
    let began = clock::monotonic();
    let outage = async {
        clock::sleep_until(began + calm).await;
        match how {
            Outage::Killed => redis.kill9()?,
            Outage::Frozen => redis.freeze()?,
        }
        let gone = began.elapsed();
        until_some("shares", Duration::from_secs(10), all("1 3")).await?;
        let header = policy(&cluster, &customer).await?;
        anyhow::ensure!(
            header.contains("berth-local"),
            "the header does not say that limits are shares: {header}"
        );
        clock::sleep_until(began + calm + away).await;
        match how {
            Outage::Killed => redis.restart().await?,
            Outage::Frozen => redis.thaw()?,
        }
        let back = began.elapsed();
        until_some("Redis to count again", Duration::from_secs(10), all("0 3")).await?;
        let header = policy(&cluster, &customer).await?;
        anyhow::ensure!(
            !header.contains("berth-local"),
            "the header names shares that are over: {header}"
        );
        anyhow::Ok((gone, back, began.elapsed()))
    };
    let (flow, outage) = tokio::join!(flood(&customer, began, calm + away + after), outage);
    let (gone, back, joined) = outage?;

    let end = flow.began.elapsed().min(calm + away + after);
    let steady = flow.share(SECOND, gone);
    let alone = flow.share(gone - SECOND, back);
    let on_return = flow.burst(back, end);
    let rest = flow.share(joined, end);
    eprintln!(
        "of the limit: {steady:.2} with Redis, {alone:.2} without for {away:?}, at most {on_return:.2} in a second after its \
         return, {rest:.2} from then on; {} tasks asked for; counted again {:?} after its return",
        flow.asked,
        joined.checked_sub(back).unwrap_or_default()
    );
    assert!(flow.faults.is_empty(), "{} faults: {:?}", flow.faults.len(), flow.faults.first());
    let load = flow.asked as f64 / (end.as_secs_f64() * f64::from(PER_SECOND));
    assert!(load > 2.5, "no overload: {load:.2}");
    assert!((0.9..=1.1).contains(&steady), "with Redis {steady:.2}");
    assert!((0.5..=1.2).contains(&alone), "without Redis {alone:.2}");
    assert!(on_return <= 1.2, "on its return {on_return:.2}");
    assert!((0.8..=1.1).contains(&rest), "afterwards {rest:.2}");
    assert!(cluster.panicked().is_empty(), "{:?}", cluster.panicked());
    Ok(())
}

mod own_engines {
    use super::*;

    #[tokio::test]
    async fn without_redis_limits_hold_by_shares_and_its_return_is_no_burst() -> anyhow::Result<()>
    {
        redis_goes_and_comes_back(Outage::Killed, Duration::from_secs(5)).await
    }
}

mod chaos {
    use super::*;

    #[tokio::test]
    async fn without_redis_for_a_minute_limits_hold_by_shares() -> anyhow::Result<()> {
        redis_goes_and_comes_back(Outage::Killed, Duration::from_secs(60)).await
    }

    #[tokio::test]
    async fn a_redis_that_hangs_is_as_good_as_none() -> anyhow::Result<()> {
        redis_goes_and_comes_back(Outage::Frozen, Duration::from_secs(20)).await
    }
}
