//! Tasks that fit no executor wait without harm: they bounce off no queue, hold nobody up, and run when one that fits joins.

use e2e::{Cluster, Customer, Oracle, Pace, Role, Shape, Submitted, sum};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::ledger::Ledger;
use testkit::poll;

/// More than any executor has: known before they are sent.
const TOO_LARGE: (u32, u32) = (40_000, 1024);
/// The cpu of one executor and the memory of another: only placing finds out.
const SPLIT: (u32, u32) = (20_000, 16_384);
/// What small tasks may take beside the large ones, on a loaded machine.
const SMALL_LIMIT: Duration = Duration::from_secs(5);

fn noop((cpu_millis, memory_mib): (u32, u32)) -> Value {
    let resources = json!({ "cpu_millis": cpu_millis, "memory_mib": memory_mib, "disk_mib": 1, "iops": 1, "ports": 0 });
    json!({ "run": { "noop": { "sleep": "10ms" } }, "resources": resources })
}

struct Rig {
    cluster: Cluster,
    customer: Customer,
    all: Vec<String>,
}

impl Rig {
    /// One executor with little cpu and one with little memory, and `large` of the customer "acme" before them.
    async fn start(large: usize, demand: (u32, u32)) -> anyhow::Result<Self> {
        let mut cluster = Cluster::start(Shape::default().with(Role::Executor, 1)).await?;
        cluster.set("BERTH_EXECUTOR__CPU_MILLIS", "32000");
        cluster.set("BERTH_EXECUTOR__MEMORY_MIB", "8192");
        cluster.join(Role::Executor).await?;
        Oracle::of(&cluster).free_again(64 + 16, Duration::from_secs(20)).await?;
        let customer = Customer::sign_up(&cluster, "acme").await?;
        let mut task = noop(demand);
        task["priority"] = json!(10);
        let mut all = Vec::new();
        if large > 0 {
            all = customer.submit_batch(&vec![task; large], "large").await?;
        }
        Ok(Self { cluster, customer, all })
    }

    /// So many small tasks of low priority, ten a tenth of a second: how long the slowest hundredth waited, and what the schedulers
    /// computed.
    async fn small_stream(&mut self, count: usize) -> anyhow::Result<(Duration, Duration)> {
        let mut small = noop((250, 512));
        (small["name"], small["priority"]) = (json!("small"), json!(-10));
        let before = self.schedulers_cpu()?;
        let began = clock::monotonic();
        for wave in 0..u32::try_from(count / 10)? {
            let batch = vec![small.clone(); 10];
            let ids = self.customer.submit_batch(&batch, &format!("stream-{wave}")).await?;
            self.all.extend(ids);
            clock::sleep_until(began + (wave + 1) * Duration::from_millis(100)).await;
        }
        let oracle = Oracle::of(&self.cluster);
        let left =
            "select count(*) from task_spec s join task t on t.id = s.id where s.name = 'small'";
        let ended = || async { oracle.number(left).await.is_ok_and(|n| n == 0) };
        poll::until("the small tasks to end", SMALL_LIMIT, ended).await?;
        let used = self.schedulers_cpu()?.saturating_sub(before);
        let p99 = "select ceil(extract(epoch from percentile_disc(0.99) within group (order by h.first_started_at - h.run_at)) * 1000)::bigint
            from task_history h join task_spec s on s.id = h.id where s.name = 'small'";
        let p99 = Oracle::of(&self.cluster).number(p99).await?;
        Ok((Duration::from_millis(u64::try_from(p99)?), used))
    }

    fn schedulers_cpu(&mut self) -> anyhow::Result<Duration> {
        let schedulers = self.cluster.of(Role::Scheduler);
        schedulers.into_iter().map(|at| testkit::cpu::used(self.cluster.process(at)?.pid())).sum()
    }

    /// For a while, ten small tasks of `customer` now and then; says how long the slowest ten took.
    async fn small_ones_pass(
        &mut self,
        customer: &Customer,
        time: Duration,
    ) -> anyhow::Result<Duration> {
        let until = clock::monotonic() + time;
        let mut slowest = Duration::ZERO;
        for wave in 0.. {
            let began = clock::monotonic();
            if began >= until {
                break;
            }
            let small = customer
                .submit_batch(&vec![noop((250, 512)); 10], &format!("small-{wave}"))
                .await?;
            let list: Vec<String> =
                small.iter().map(|id| format!("'{}'", id.trim_start_matches("task_"))).collect();
            let left = format!("select count(*) from task where id in ({})", list.join(","));
            let oracle = Oracle::of(&self.cluster);
            let passed = || async { oracle.number(&left).await.is_ok_and(|n| n == 0) };
            poll::until("small tasks to pass the large ones", SMALL_LIMIT, passed).await?;
            slowest = slowest.max(began.elapsed());
            self.all.extend(small);
            clock::sleep(Duration::from_millis(300)).await;
        }
        Ok(slowest)
    }

    async fn tries(&mut self) -> anyhow::Result<f64> {
        sum(&mut self.cluster, Role::ResourceManager, "berth_unplaced_tasks_total", &[]).await
    }

    /// An executor that fits joins: everything ends, and no message was ever bounced or left to die.
    async fn room_comes(mut self, large: usize) -> anyhow::Result<Duration> {
        let waiting = "select count(*) from task where state in ('ready', 'queued')";
        assert_eq!(usize::try_from(Oracle::of(&self.cluster).number(waiting).await?)?, large);
        let ample = [
            ("CPU_MILLIS", "1000000"),
            ("MEMORY_MIB", "2000000"),
            ("DISK_MIB", "4000000"),
            ("IOPS", "200000"),
            ("PORT_COUNT", "4000"),
        ];
        for (setting, amount) in ample {
            self.cluster.set(&format!("BERTH_EXECUTOR__{setting}"), amount);
        }
        self.cluster.join(Role::Executor).await?;
        let joined = clock::monotonic();
        Oracle::of(&self.cluster).drained(Duration::from_secs(60)).await?;
        let after = joined.elapsed();
        let dead = sum(&mut self.cluster, Role::Scheduler, "berth_hints_dead_total", &[]).await?;
        assert!(dead == 0.0, "{dead} hints died");
        let again = sum(
            &mut self.cluster,
            Role::ResourceManager,
            "berth_bus_deliveries_total",
            &["redelivered=\"true\""],
        )
        .await?;
        assert!(again <= 2.0, "{again} messages went back to the queue");
        let oracle = Oracle::of(&self.cluster);
        let submitted = Submitted { all: self.all, commands: Vec::new() };
        let ledger = Ledger::at(self.cluster.folder().join("ledger"));
        assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
        assert_eq!(
            oracle.number("select count(*) from task_history where attempt <> 1").await?,
            0,
            "want of room cost attempts"
        );
        Ok(after)
    }
}

/// They are never even tried, so that they cost nothing.
async fn too_large(tasks: usize, wait: Duration) -> anyhow::Result<()> {
    let mut rig = Rig::start(tasks, TOO_LARGE).await?;
    let same = Customer::with_key(&rig.cluster, rig.customer.key())?;
    let slowest = rig.small_ones_pass(&same, wait).await?;
    let tries = rig.tries().await?;
    assert!(tries == 0.0, "{tries} times placing was tried in vain");
    let after = rig.room_comes(tasks).await?;
    eprintln!(
        "{tasks} waited {wait:?} and ended {after:?} after room came; ten small ones took {slowest:?} at most"
    );
    Ok(())
}

/// They are tried now and then.
async fn split(tasks: usize, wait: Duration) -> anyhow::Result<()> {
    let mut rig = Rig::start(tasks, SPLIT).await?;
    clock::sleep(wait).await;
    let tries = rig.tries().await?;
    assert!(tries > 0.0, "no task was tried: how could anybody know?");
    let after = rig.room_comes(tasks).await?;
    eprintln!("{tasks} waited {wait:?} ({tries} tries) and ended {after:?} after room came");
    Ok(())
}

/// Tasks that are tried in vain hold up neither their own tenant's small ones nor another's.
async fn passed_by(tasks: usize, wait: Duration, same_tenant: bool) -> anyhow::Result<()> {
    let mut rig = Rig::start(tasks, SPLIT).await?;
    let customer = if same_tenant {
        Customer::with_key(&rig.cluster, rig.customer.key())?
    } else {
        Customer::sign_up(&rig.cluster, "other").await?
    };
    let slowest = rig.small_ones_pass(&customer, wait).await?;
    let after = rig.room_comes(tasks).await?;
    eprintln!(
        "{tasks} waited {wait:?} and ended {after:?} after room came; ten small ones took {slowest:?} at most"
    );
    Ok(())
}

/// Small tasks wait no longer, and the schedulers compute little more, for large ones that go before them and find no room.
async fn beside(large: usize, small: usize, demand: (u32, u32)) -> anyhow::Result<()> {
    let (alone, cpu_alone) = Rig::start(0, demand).await?.small_stream(small).await?;
    let mut rig = Rig::start(large, demand).await?;
    let (wait, cpu) = rig.small_stream(small).await?;
    eprintln!(
        "p99 of {small} small ones {alone:?} alone, {wait:?} beside {large} large ones; schedulers {cpu_alone:?} and {cpu:?}"
    );
    // What a moment of the machine does to a few milliseconds is no finding.
    let (wait_bound, cpu_bound) =
        (alone.max(Duration::from_millis(25)) * 2, cpu_alone.mul_f64(1.5));
    assert!(wait <= wait_bound, "small ones waited {wait:?} (p99), {alone:?} without large ones");
    assert!(cpu <= cpu_bound, "schedulers computed {cpu:?}, {cpu_alone:?} without large ones");
    rig.room_comes(large).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_larger_than_any_executor_hold_nobody_up_and_run_when_one_that_fits_joins()
-> anyhow::Result<()> {
    too_large(100, Duration::from_secs(10)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_find_no_room_are_tried_without_harm_and_run_when_an_executor_that_fits_joins()
-> anyhow::Result<()> {
    split(100, Duration::from_secs(10)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_find_no_room_do_not_hold_up_another_tenant() -> anyhow::Result<()> {
    passed_by(100, Duration::from_secs(10), false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_find_no_room_do_not_hold_up_small_ones_of_their_tenant() -> anyhow::Result<()> {
    passed_by(100, Duration::from_secs(10), true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_mixed_sizes_follow_each_other_as_closely_as_those_of_one_size()
-> anyhow::Result<()> {
    let one = |shape: Shape, role| shape.with(role, 1);
    let shape = Role::ALL.into_iter().fold(Shape::default(), one);
    let cluster = Cluster::start(shape.set("BERTH_EXECUTOR__CPU_MILLIS", "2000")).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    Pace::of_sizes_that_do_not_divide_it(&customer).await
}

/// An executor that has none of a dimension, and one that has less of it than a basic task takes.
#[tokio::test(flavor = "multi_thread")]
async fn executors_that_lack_a_dimension_run_what_asks_for_none_of_it_and_the_rest_is_told_which()
-> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    let shape = shape
        .set("BERTH_EXECUTOR__PORT_COUNT", "0")
        .set("BERTH_EXECUTOR__IOPS", "49")
        .set("BERTH_EXECUTOR__DISK_MIB", "512");
    let cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let asking = |resources: Value| json!({ "run": { "noop": {} }, "resources": resources });
    let small = asking(json!({ "cpu_millis": 250, "memory_mib": 512 }));
    let ids = customer.submit_batch(&vec![small; 20], "small").await?;
    let ended = async || {
        let mut states = Vec::new();
        for id in &ids {
            states
                .push(customer.get(id).await.map(|task| task["state"].clone()).unwrap_or_default());
        }
        states.iter().all(|state| *state == "succeeded")
    };
    poll::until("what asks for no ports to run", Duration::from_secs(20), ended).await?;
    for (task, dimension) in [
        (asking(json!({ "cpu_millis": 1, "memory_mib": 1, "ports": 1 })), "ports"),
        (asking(json!({ "cpu_millis": 1, "memory_mib": 1, "iops": 50 })), "iops"),
        (asking(json!({ "cpu_millis": 1, "memory_mib": 1, "disk_mib": 513 })), "disk_mib"),
    ] {
        let id = customer.submit_until_answered(&task, dimension).await?;
        let reason_of_task = async || -> anyhow::Result<Value> {
            let path = format!("/v1/tasks/{id}/explain");
            Ok(customer.call("GET", &path, None, None).await?.1["reasons"][0].clone())
        };
        let explained = async || {
            reason_of_task().await.is_ok_and(|reason| {
                (&reason["reason"], &reason["dimension"])
                    == (&json!("too_large"), &json!(dimension))
            })
        };
        let what = format!("the explanation to name {dimension}: {:?}", reason_of_task().await);
        poll::until(&what, Duration::from_secs(10), explained).await?;
    }
    Ok(())
}

mod chaos {
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn five_hundred_tasks_larger_than_any_executor_for_a_minute_run_when_one_that_fits_joins()
    -> anyhow::Result<()> {
        super::too_large(500, Duration::from_secs(60)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn five_hundred_tasks_without_room_for_a_minute_run_when_an_executor_that_fits_joins()
    -> anyhow::Result<()> {
        super::split(500, Duration::from_secs(60)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn five_thousand_urgent_ones_larger_than_any_executor_cost_small_ones_nothing()
    -> anyhow::Result<()> {
        super::beside(5000, 1000, super::TOO_LARGE).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn five_thousand_urgent_ones_without_room_cost_small_ones_nothing() -> anyhow::Result<()>
    {
        super::beside(5000, 1000, super::SPLIT).await
    }
}
