//! Money by a program that shares no code with Berth: what attempts cost is what the roll-up and the invoice say and what is exported,
//! after retries, kills and wrong clocks. Nothing is billed twice, and no attempt is left out.

use crate::clock_skew::skew;
use crate::spend_caps::put;
use anyhow::Context;
use domain::id::TaskId;
use e2e::{Cluster, Customer, Oracle, Role, Shape};
use futures::future::join_all;
use runtime::clock;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use testkit::{fake_time, poll, psql};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/ledger");
/// Where something hangs, the test ends.
const LONG: Duration = Duration::from_secs(120);
/// What has ended is billed and exported within so long.
const EXPORTED: Duration = Duration::from_secs(60);
/// Each fails in its first attempt.
const RETRIED: usize = 500;
/// Of each schedule in each part.
const FIRES: usize = 3;
/// Tiers, both discounts, volume, and prices of tasks, fires and stored output.
const BOOK: &str = r#"{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z",
    "rates": {"cpu_core": 123456789, "memory_gib": 7654321, "disk_gib": 99991, "thousand_iops": 1234, "port": 7},
    "tiers": {"premium": {"cpu_core": 87654321}}, "each": {"task": 13, "fire": 17, "stored_gib_month": 1000003},
    "discounts": {"tolerance": [{"at_least_s": 60, "percent": 7}, {"at_least_s": 3600, "percent": 41}], "flexible_percent": 33},
    "volume": [{"above": 1001, "percent": 3}, {"above": 20003, "percent": 17}]}]}"#;

/// All that happened, three hours earlier; and the quarter of an hour in which the last attempt ended is the month's last.
const OVER: &str = "update attempt set placed_at = placed_at - interval '3 hours', ended_at = ended_at - interval '3 hours';
    update usage_rollup set starts_at = starts_at - interval '3 hours' where attempts > 0;
    insert into tenant_billing (tenant_id, zone, month, starts_at, ends_at)
        select id, 'UTC', date_trunc('month', now() - interval '3 days'), now() - interval '3 days',
            (select max(starts_at) + interval '1 s' from usage_rollup) from tenant
        on conflict (tenant_id) do update set month = excluded.month, starts_at = excluded.starts_at, ends_at = excluded.ends_at";

/// The tenant has been there for some days, and had output stored at the end of one.
const EARLIER: &str = "update tenant_plan set since = since - interval '4 days';
    update plan_billing set since = since - interval '4 days';
    insert into stored_day (tenant_id, day, bytes)
    select id, (now() at time zone 'UTC')::date - 2, 12345678901 from tenant";

/// What the program computes, and compares with what is stored.
async fn computed_anew(cluster: &Cluster) -> anyhow::Result<String> {
    let sql = Command::new(PROGRAM).arg("--sql").output().await.context("starting python3")?;
    let kept = psql::run(cluster.database().owner_url(), &String::from_utf8(sql.stdout)?).await?;
    let mut program = Command::new(PROGRAM);
    let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = program.stdin.take().context("no input")?;
    let (written, output) = tokio::join!(
        async move {
            input.write_all(kept.as_bytes()).await?;
            input.shutdown().await
        },
        program.wait_with_output()
    );
    written?;
    let output = output?;
    let said = String::from_utf8(output.stdout)?;
    anyhow::ensure!(
        output.status.success(),
        "{}",
        said.lines().take(20).collect::<Vec<_>>().join("\n")
    );
    Ok(said)
}

/// A task that says when it starts, and fails in its first attempt; of each price in turn.
fn task(number: usize, started: &Path) -> Value {
    let tier = ["basic", "regular", "premium"][number % 3];
    let tolerance = ["0s", "2m", "2h"][number / 3 % 3];
    let script = format!(
        "echo $BERTH_TASK_ID $BERTH_ATTEMPT >> {}; test $BERTH_ATTEMPT -gt 1",
        started.display()
    );
    json!({
        "run": {"command": {"argv": ["sh", "-c", script]}}, "tier": tier, "delay_tolerance": tolerance, "flexible": number.is_multiple_of(2),
        "max_attempts": 9, "execution_cap": "20s", "retry": {"backoff": "constant", "initial": "100ms", "jitter": false}})
}

/// Fires a schedule of tasks and one of runs with two nodes, some times each.
async fn fire(customer: &Customer, part: usize) -> anyhow::Result<()> {
    let command = json!({"run": {"noop": {}}, "tier": "basic", "max_attempts": 9});
    let never = json!({"specs": [{"at": "2190-01-01T00:00:00Z"}]});
    let node = |after: Value| json!({"after": after, "task": command});
    let run = json!({"nodes": {"a": node(json!([])), "b": node(json!(["a"]))}});
    put(customer, "/v1/workflows/load", &run).await?;
    let (task, run) = (format!("task-{part}"), format!("run-{part}"));
    let of_task = json!({"timing": never, "task": command});
    put(customer, &format!("/v1/schedules/{task}"), &of_task).await?;
    let of_run = json!({"timing": never, "workflow": {"name": "load"}});
    put(customer, &format!("/v1/schedules/{run}"), &of_run).await?;
    for turn in 0..FIRES {
        for name in [&task, &run] {
            let (path, key) = (format!("/v1/schedules/{name}/trigger"), format!("{name}-{turn}"));
            let (status, answer) = customer.call("POST", &path, None, Some(&key)).await?;
            anyhow::ensure!(status == 201, "{status}: {answer}");
        }
    }
    Ok(())
}

/// The attempts that were started, by themselves.
fn started(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let lines = std::fs::read_to_string(file)?;
    let key = |line: &str| {
        let (task, attempt) = line.split_once(' ').context("a task and its attempt")?;
        Ok(format!("{}/{attempt}", task.parse::<TaskId>()?.uuid()))
    };
    lines.lines().map(key).collect()
}

/// A billing provider that has an event once, and says of a second one that it is there.
#[derive(Default)]
struct Provider {
    events: BTreeMap<String, i64>,
    conflicts: usize,
}

impl Provider {
    fn take(&mut self, lines: &str) -> anyhow::Result<()> {
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line)?;
            let id = event["id"].as_str().context("an id")?.to_owned();
            let cost = event["data"]["cost_micros"].as_str().context("a cost")?.parse()?;
            match self.events.insert(id, cost) {
                None => {}
                Some(before) if before == cost => self.conflicts += 1,
                Some(before) => anyhow::bail!("{before} and then {line}"),
            }
        }
        Ok(())
    }
}

/// A program that sends what was exported again and again, whole, counts nothing twice, and bills what the invoice does.
async fn all_is_exported(cluster: &Cluster, invoice: &Value) -> anyhow::Result<()> {
    let mut provider = Provider::default();
    let export = ["admin", "usage-events", "--batch", "100"];
    for _ in 0..5 {
        provider.take(&cluster.berth(&export).await?)?;
    }
    assert_eq!(provider.conflicts, 4 * provider.events.len());
    // Behind the stored place nothing is left.
    let place = cluster.folder().join("cursor").display().to_string();
    for wanted in [provider.events.len(), 0] {
        let lines = cluster.berth(&[&export[..], &["--cursor-file", &place]].concat()).await?;
        assert_eq!(lines.lines().count(), wanted);
    }
    // A first attempt bears what its task costs, also where it was lost.
    let billed = Oracle::of(cluster)
        .number("select count(*) from attempt where charged or attempt = 1")
        .await?;
    assert_eq!(i64::try_from(provider.events.len())?, billed + 1, "and what was stored");
    let lines = invoice["lines"].as_array().context("lines")?.iter();
    let kinds = ["attempts", "tasks", "fires", "stored"].map(Value::from);
    let used = lines.filter(|line| kinds.contains(&line["kind"]));
    let used: i64 = used.filter_map(|line| line["amount"].as_i64()).sum();
    assert_eq!(provider.events.values().sum::<i64>(), used, "{invoice}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_computes_the_same_bill_after_retries_kills_and_wrong_clocks()
-> anyhow::Result<()> {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 2));
    let mut cluster = Cluster::start(shape).await?;
    let scopes = ["read", "submit", "admin"];
    let customer = Customer::sign_up_with(&cluster, "acme", &scopes).await?;
    let included = json!({"attempts": 777, "tasks": 11, "fires": 2});
    let billing = json!({"price_book": "eur", "included": included, "minimum": 5});
    let store = format!(
        "insert into price_book (name, document) values ('eur', '{BOOK}');
        update plan set billing = '{billing}' where name = 'default'"
    );
    cluster.database().sql(&store).await?;
    if fake_time::library().is_some() {
        for (role, seconds) in
            [(Role::Executor, 90), (Role::ResourceManager, -90), (Role::Scheduler, 90)]
        {
            let at = cluster.of(role)[0];
            skew(&mut cluster, at, seconds).await?;
        }
    }
    // Some are accepted under a cap, and have the prices of then.
    let cap = json!({"amount": 1_000_000_000_000_i64, "currency": "EUR", "period": "month"});
    // Tasks run as users of their own, who all write to it.
    let file = cluster.folder().join("started");
    std::fs::write(&file, "")?;
    std::fs::set_permissions(&file, Permissions::from_mode(0o666))?;
    for part in 0..2 {
        let submit = async |number: usize| {
            let key = format!("{part}-{number}");
            customer.submit_until_answered(&task(number, &file), &key).await
        };
        let ids = join_all((0..RETRIED / 2).map(submit)).await;
        ids.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        // Of fires the first ones are without the cap, too.
        fire(&customer, part).await?;
        if part == 0 {
            put(&customer, "/v1/spend-caps/all", &cap).await?;
        }
    }
    cluster.database().sql(EARLIER).await?;
    for turn in 0..4 {
        clock::sleep(Duration::from_millis(700)).await;
        let role = [Role::ResourceManager, Role::Executor, Role::Scheduler, Role::Api][turn];
        let at = cluster.of(role)[1];
        cluster.kill9(at)?;
        cluster.launch(at)?;
    }
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(120)).await?;
    let drained = clock::monotonic();
    // Each attempt that started has one row, and none is billed for less than nothing.
    let rows = oracle.rows("select task_id, attempt from attempt").await?;
    let attempts = rows.iter().map(|row| row.join("/")).collect::<BTreeSet<_>>();
    assert_eq!(attempts.len(), rows.len());
    let started = started(&file)?;
    let missing = started.difference(&attempts).count();
    assert!(missing == 0 && started.len() > RETRIED, "{missing} of {}", started.len());
    assert!(attempts.len() >= 2 * RETRIED, "{}", attempts.len());
    assert_eq!(oracle.number("select count(*) from attempt where usage_ms < 0").await?, 0);

    let fired = "select count(*) from workflow_run where fire_task is not null";
    assert_eq!(oracle.number(fired).await?, 2 * i64::try_from(FIRES)?);
    // The month is over, and billed.
    let counted = async || {
        let sum = "select coalesce(sum(attempts), 0)::bigint from usage_rollup where kind = 'tier'";
        let stored =
            "select count(*) from usage_rollup where kind = 'tier' and stored_byte_days > 0";
        oracle.number(sum).await.is_ok_and(|sum| usize::try_from(sum) == Ok(rows.len()))
            && oracle.number(stored).await.is_ok_and(|rows| rows == 1)
    };
    poll::until("all to be counted", LONG, counted).await?;
    cluster.database().sql(OVER).await?;
    let billed = async || {
        let (_, list) = customer.call("GET", "/v1/invoices", None, None).await.ok()?;
        list["data"].as_array()?.iter().find(|invoice| invoice["state"] == "final").cloned()
    };
    let invoice = poll::until_some("the month to be billed", LONG, billed).await?;
    let said = computed_anew(&cluster).await?;
    assert!(said.ends_with("; 1 invoices; 0 differences\n"), "{said}");

    all_is_exported(&cluster, &invoice).await?;
    assert!(drained.elapsed() < EXPORTED, "exported after {:?}", drained.elapsed());

    // What it would say of a bill that is wrong.
    cluster.database().sql("update usage_rollup set attempts_cost = attempts_cost + 1").await?;
    let wrong = computed_anew(&cluster).await.unwrap_err().to_string();
    assert!(wrong.contains("roll-up"), "{wrong}");
    Ok(())
}
