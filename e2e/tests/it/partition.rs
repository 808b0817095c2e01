//! An executor that nobody can reach any more ends its work before anybody else begins it, and what it says when it is back changes
//! nothing.
//!
//! Its tasks write down that they live, many times a second: so it shows when a process was really dead.

use e2e::{Cluster, Customer, Oracle, Role, Shape};
use runtime::clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use testkit::poll;
use testkit::proxy::{Mode, Proxy};

const SOON: Duration = Duration::from_secs(30);
const TASKS: usize = 12;
/// The number of the executor with most leases.
const BUSIEST: &str = "select substr(s.executor_id, 10)::int from task t join executor_session s on s.id = t.session_id
    group by s.executor_id order by count(*) desc limit 1";

/// Says that it lives every 50 ms, by the clock of the whole machine.
fn beating(beats: &Path, work: Duration) -> Value {
    let times = work.as_millis() / 50;
    let script = format!(
        "i=0; while [ $i -lt {times} ]; do read up _ < /proc/uptime; echo \"$BERTH_TASK_ID $BERTH_ATTEMPT $up\" >> {}; \
         i=$((i+1)); sleep 0.05; done",
        beats.display()
    );
    json!({ "run": { "command": { "argv": ["/bin/sh", "-c", script] } }, "execution_cap": "10m", "max_attempts": 1 })
}

/// First and last beat of each attempt, in seconds since the machine started.
type Life = BTreeMap<u32, (f64, f64)>;

/// The life of each task.
fn lives(beats: &Path) -> anyhow::Result<BTreeMap<String, Life>> {
    let mut lives: BTreeMap<String, Life> = BTreeMap::new();
    for line in std::fs::read_to_string(beats)?.lines() {
        let [task, attempt, at] = line.split(' ').collect::<Vec<_>>()[..] else {
            anyhow::bail!("{line:?} is no beat");
        };
        let at: f64 = at.parse()?;
        let life = lives.entry(task.to_owned()).or_default();
        life.entry(attempt.parse()?).or_insert((at, at)).1 = at;
    }
    Ok(lives)
}

/// One of three executors is cut off for four terms while all of them work.
async fn cut_off(term: Duration, rounds: usize) -> anyhow::Result<()> {
    let shape = Shape::default()
        .with(Role::Api, 1)
        .with(Role::Scheduler, 1)
        .with(Role::ResourceManager, 1)
        .with(Role::Executor, 0)
        .set("BERTH_RESOURCE_MANAGER__LEASE_TERM", format!("{}s", term.as_secs()));
    let mut cluster = Cluster::start(shape).await?;
    let manager = cluster.manager_urls().trim_start_matches("http://").to_owned();
    // Each behind a network of its own: the one that has most to do is cut off.
    let mut proxies = Vec::new();
    for _ in 0..3 {
        let proxy = Proxy::start(manager.clone()).await?;
        let url = format!("http://{}", proxy.address());
        cluster.set("BERTH_EXECUTOR__RESOURCE_MANAGERS", url);
        cluster.join(Role::Executor).await?;
        proxies.push(proxy);
    }
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let (mut handed_over, mut too_early) = (0, Vec::new());
    for round in 0..rounds {
        let beats = cluster.folder().join(format!("beats-{round}"));
        std::fs::write(&beats, "")?;
        std::fs::set_permissions(&beats, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
        Oracle::of(&cluster).free_again(3 * 64, SOON).await?;
        let tasks = vec![beating(&beats, term * 2); TASKS];
        let ids = customer.submit_batch(&tasks, &format!("round-{round}")).await?;
        poll::until("every task to live", SOON, || async {
            lives(&beats).is_ok_and(|lives| lives.len() == TASKS)
        })
        .await?;
        let busiest = Oracle::of(&cluster).number(BUSIEST).await?;
        let proxy = &proxies[usize::try_from(busiest)?];
        proxy.set(Mode::Blackhole);
        let cut = clock::monotonic();
        clock::sleep_until(cut + term * 4).await;
        proxy.set(Mode::Pass);
        Oracle::of(&cluster).drained(SOON).await?;
        for (task, attempts) in lives(&beats)? {
            assert!(ids.contains(&task), "{task} ran unasked");
            let attempts: Vec<(u32, (f64, f64))> = attempts.into_iter().collect();
            for pair in attempts.windows(2) {
                let [(_, (_, last)), (attempt, (first, _))] = pair else { continue };
                handed_over += 1;
                // The machine counts in hundredths.
                if *first < last - 0.01 {
                    too_early.push(format!(
                        "{task}: attempt {attempt} began {:.2} s early",
                        last - first
                    ));
                }
            }
        }
    }
    let oracle = Oracle::of(&cluster);
    assert_eq!(oracle.tables().await?, Vec::<e2e::Violation>::new());
    let of = |outcome: &str| {
        format!("select count(*) from attempt where outcome = '{outcome}' and not charged")
    };
    let (lost, all) = (oracle.number(&of("lost")).await?, TASKS * rounds);
    let ended_well = "select count(*) from task_history where state = 'succeeded' and failures = 0";
    assert_eq!(
        usize::try_from(oracle.number(ended_well).await?)?,
        all,
        "{}",
        oracle.endings().await?
    );
    eprintln!(
        "{rounds} cuts of {:?}: {lost} attempts were lost, {handed_over} tasks went to another executor, {} too early",
        term * 4,
        too_early.len()
    );
    assert!(handed_over >= rounds, "the cut hit nobody");
    assert!(too_early.len() * 100 <= handed_over, "{too_early:?}");
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_is_cut_off_ends_its_work_before_another_begins_it() -> anyhow::Result<()>
{
    cut_off(Duration::from_secs(3), 1).await
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn an_executor_cut_off_twenty_times_ends_its_work_before_another_begins_it()
    -> anyhow::Result<()> {
        super::cut_off(std::time::Duration::from_secs(5), 20).await
    }
}
