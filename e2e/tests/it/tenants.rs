//! What a plan, a suspension and a deletion do to running work, with real processes.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape, batcher, metric};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{poll, psql};

const HELD: &str = "state in ('queued', 'running', 'cancelling')";

fn noop(sleep: &str) -> Value {
    json!({ "run": { "noop": { "sleep": sleep } } })
}

fn small() -> Shape {
    Shape::default().with(Role::Api, 1).with(Role::ResourceManager, 1).with(Role::Executor, 1)
}

/// The tenant's id as the database has it.
async fn id_of(cluster: &Cluster, name: &str) -> anyhow::Result<String> {
    let sql = format!("select id from tenant where name = '{name}'");
    psql::run(cluster.database().owner_url(), &sql).await
}

/// Kills whoever is the batcher, and starts it again.
async fn kill_the_batcher(cluster: &mut Cluster) -> anyhow::Result<()> {
    let at = batcher(cluster).await?;
    cluster.kill9(at)?;
    cluster.launch(at)
}

/// A trigger counts what the tenant holds after each statement that moves a task: that is at every instant.
async fn watch_limit(cluster: &Cluster, tenant: &str, limit: u32) -> anyhow::Result<()> {
    let sql = format!(
        "create table over_limit (held bigint);
        create function watch_limit() returns trigger language plpgsql security definer as $$
        declare held bigint;
        begin
            select count(*) into held from public.task where tenant_id = '{tenant}' and {HELD};
            if held > {limit} then insert into public.over_limit values (held); end if;
            return null;
        end $$;
        create trigger watch_limit after update on task for each statement execute function watch_limit();"
    );
    psql::run(cluster.database().owner_url(), &sql).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_on_running_tasks_holds_at_every_instant_while_batchers_die() -> anyhow::Result<()>
{
    let mut cluster = Cluster::start(small()).await?;
    let (limited, free) = (
        Customer::sign_up(&cluster, "limited").await?,
        Customer::sign_up(&cluster, "other").await?,
    );
    cluster
        .berth(&["admin", "plan", "create", "five", "--running-tasks", "5", "--backlog", "100000"])
        .await?;
    cluster.berth(&["admin", "tenant", "set-plan", "limited", "five"]).await?;
    let tenant = id_of(&cluster, "limited").await?;
    watch_limit(&cluster, &tenant, 5).await?;
    let url = cluster.database().owner_url().to_owned();

    let began = clock::monotonic();
    limited.submit_batch(&vec![noop("50ms"); 400], "limited").await?;
    free.submit_batch(&vec![noop("50ms"); 400], "other").await?;
    let others = format!("select count(*) from task where tenant_id <> '{tenant}'");
    let done = async || psql::number(&url, &others).await.is_ok_and(|n| n == 0);
    poll::until("the tenant without such a limit to be done", Duration::from_secs(30), done)
        .await?;
    let unlimited = began.elapsed();
    for _ in 0..2 {
        kill_the_batcher(&mut cluster).await?;
        clock::sleep(Duration::from_secs(1)).await;
    }
    Oracle::of(&cluster).drained(Duration::from_secs(90)).await?;
    let whole = began.elapsed();
    assert_eq!(psql::run(&url, "select max(held) from over_limit").await?, "", "never more than 5");
    // 5 at a time of 50 ms are 100 a second at best.
    assert!(whole >= Duration::from_secs(4), "{whole:?}");
    let at_once = format!(
        "select max(n) from (select (select count(*) from attempt b where b.tenant_id = a.tenant_id
            and b.placed_at <= a.placed_at and b.ended_at > a.placed_at) as n from attempt a where a.tenant_id = '{tenant}') c"
    );
    let at_once = psql::number(&url, &at_once).await?;
    assert!((3..=5).contains(&at_once), "{at_once} at once");
    eprintln!(
        "the limited tenant took {whole:?} and two deaths of the batcher; the other one {unlimited:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_tenant_starts_nothing_and_goes_on_when_it_is_resumed() -> anyhow::Result<()> {
    let cluster = Cluster::start(small()).await?;
    let (acme, other) =
        (Customer::sign_up(&cluster, "acme").await?, Customer::sign_up(&cluster, "other").await?);
    let tenant = id_of(&cluster, "acme").await?;
    let url = cluster.database().owner_url().to_owned();
    let count = async |what: &str| {
        psql::number(&url, &format!("select count(*) from {what} tenant_id = '{tenant}'")).await
    };
    acme.submit_batch(&vec![noop("3s"); 200], "acme").await?;
    let started = async || count("task where state = 'running' and").await.is_ok_and(|n| n > 40);
    poll::until("tasks of acme to run", Duration::from_secs(10), started).await?;

    cluster.berth(&["admin", "tenant", "suspend", "acme"]).await?;
    let suspended = clock::monotonic();
    let (status, refused) = acme.call("POST", "/v1/tasks", Some(&noop("0s")), None).await?;
    let quick = suspended.elapsed() < Duration::from_millis(900);
    assert!(quick || (status, refused["code"].as_str()) == (403, Some("tenant_suspended")));
    clock::sleep_until(suspended + Duration::from_secs(2)).await;
    let (status, refused) = acme.call("POST", "/v1/tasks", Some(&noop("0s")), None).await?;
    assert_eq!((status, refused["code"].as_str()), (403, Some("tenant_suspended")));
    // What ran two seconds after the word ends and is billed; nothing more starts, though there is room.
    // Counted in one statement: what ends meanwhile would be counted in both places.
    let begun = format!(
        "select (select count(*) from task where attempt > 0 and tenant_id = '{tenant}')
            + (select count(*) from task_history where tenant_id = '{tenant}')"
    );
    let begun = psql::number(&url, &begun).await?;
    other.submit_batch(&vec![noop("10ms"); 50], "other").await?;
    let ended = async || count(&format!("task where {HELD} and")).await.is_ok_and(|n| n == 0);
    poll::until("what ran to end", Duration::from_secs(15), ended).await?;
    let done = count("task_history where state = 'succeeded' and").await?;
    assert_eq!(done, begun, "what had begun has ended, and nothing began");
    assert_eq!(count("attempt where charged and usage_ms >= 2900 and").await?, done, "billed");
    assert!(count("task where state = 'ready' and").await? >= 200 - done);
    // It may have begun only just now: what ran of the first may have ended before the other tenant's tasks came.
    let others = "select count(*) from task where state <> 'ready'";
    let went_on = async || psql::number(&url, others).await.is_ok_and(|n| n == 0);
    poll::until("the tasks of the other tenant to end", Duration::from_secs(5), went_on).await?;

    cluster.berth(&["admin", "tenant", "resume", "acme"]).await?;
    let resumed = clock::monotonic();
    let again = async || count("task where state = 'running' and").await.is_ok_and(|n| n > 0);
    poll::until("tasks of acme to run again", Duration::from_secs(3), again).await?;
    eprintln!("work went on {:?} after the tenant was resumed", resumed.elapsed());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_tenants_work_is_stopped_and_its_data_goes_when_the_grace_is_over()
-> anyhow::Result<()> {
    let cluster = Cluster::start(small()).await?;
    let (acme, other) =
        (Customer::sign_up(&cluster, "acme").await?, Customer::sign_up(&cluster, "other").await?);
    let tenant = id_of(&cluster, "acme").await?;
    let url = cluster.database().owner_url().to_owned();
    let command =
        json!({ "run": { "command": { "argv": ["bash", "-c", "echo started; sleep 60"] } } });
    acme.submit_batch(&vec![command; 5], "running").await?;
    acme.submit_batch(&vec![json!({ "run": { "noop": {} }, "delay": "1h" }); 2500], "later")
        .await?;
    other.submit_batch(&vec![json!({ "run": { "noop": {} }, "delay": "1h" }); 10], "other").await?;
    let running = format!("select count(*) from task_output where tenant_id = '{tenant}'");
    let started = async || psql::number(&url, &running).await.is_ok_and(|n| n == 5);
    poll::until("five commands to run", Duration::from_secs(20), started).await?;

    cluster.berth(&["admin", "tenant", "delete", "acme", "--yes"]).await?;
    let live = format!("select count(*) from task where tenant_id = '{tenant}'");
    let cleared = async || psql::number(&url, &live).await.is_ok_and(|n| n == 0);
    poll::until("nothing of it to live", Duration::from_secs(20), cleared).await?;
    let cancelled = format!(
        "select count(*) from task_history where tenant_id = '{tenant}' and state = 'cancelled'"
    );
    assert_eq!(psql::number(&url, &cancelled).await?, 2505);
    let stopped = format!(
        "select count(*) from attempt where tenant_id = '{tenant}' and outcome = 'stopped'"
    );
    assert_eq!(psql::number(&url, &stopped).await?, 5, "asked to stop, and did");
    let refused =
        async || acme.call("GET", "/v1/tasks", None, None).await.is_ok_and(|a| a.0 == 401);
    poll::until("its key to be refused", Duration::from_secs(2), refused).await?;

    psql::run(&url, "update tenant set deleted_at = now() - interval '8 days' where name = 'acme'")
        .await?;
    let gone = format!(
        "select count(*) from tenant where id = '{tenant}' and purged_at is not null and name is null"
    );
    let purged = async || psql::number(&url, &gone).await.is_ok_and(|n| n == 1);
    poll::until("the purge", Duration::from_secs(20), purged).await?;
    for table in ["task_spec", "task_history", "attempt", "task_output", "idempotency", "api_key"] {
        let left = format!("select count(*) from {table} where tenant_id = '{tenant}'");
        assert_eq!(psql::number(&url, &left).await?, 0, "{table}");
    }
    assert_eq!(psql::number(&url, "select count(*) from task").await?, 10, "nobody else's");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_batcher_alone_looks_at_quotas_and_passes_over_whom_it_cannot_count()
-> anyhow::Result<()> {
    let mut cluster = Cluster::start(small()).await?;
    let url = cluster.database().owner_url().to_owned();
    cluster.berth(&["admin", "plan", "create", "ten", "--backlog", "10"]).await?;
    let later = json!({ "run": { "noop": {} }, "delay": "1h" });
    let nearly_full = async |cluster: &Cluster, name: &str| -> anyhow::Result<String> {
        let customer = Customer::sign_up(cluster, name).await?;
        cluster.berth(&["admin", "tenant", "set-plan", name, "ten"]).await?;
        customer.submit_batch(&vec![later.clone(); 8], name).await?;
        id_of(cluster, name).await
    };
    let warned = async |tenant: &str| {
        let sql = format!("select count(*) from task_event where tenant_id = '{tenant}'");
        psql::number(&url, &sql).await
    };
    // Looked at before the other, because it is older; a look at one of its tasks takes longer than a slice may.
    let slow = nearly_full(&cluster, "slow").await?;
    let policy = format!(
        "create policy slow on task as restrictive for select to berth_scheduler
            using (tenant_id <> '{slow}' or pg_sleep(6)::text is not null)"
    );
    psql::run(&url, "delete from task_event; delete from tenant_quota_level").await?;
    psql::run(&url, &policy).await?;
    let acme = nearly_full(&cluster, "acme").await?;
    let has_warned = async || warned(&acme).await.is_ok_and(|n| n == 1);
    poll::until("acme to be warned", Duration::from_secs(60), has_warned).await?;

    let (mut led, mut looked) = (Vec::new(), Vec::new());
    for at in cluster.of(Role::Scheduler) {
        led.push(metric(&mut cluster, at, "berth_batcher_leads", &[]).await? >= 1.0);
        let lists = ["statement=\"tenant.watched\""];
        looked.push(metric(&mut cluster, at, "berth_sql_seconds_count", &lists).await? >= 1.0);
    }
    assert_eq!(led.iter().filter(|leads| **leads).count(), 1);
    assert_eq!(looked, led, "nobody else looks");

    psql::run(&url, "drop policy slow on task").await?;
    kill_the_batcher(&mut cluster).await?;
    let late = nearly_full(&cluster, "late").await?;
    let has_warned = async || warned(&late).await.is_ok_and(|n| n == 1);
    poll::until("the next batcher to warn", Duration::from_secs(40), has_warned).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_weight_acts_on_what_has_been_waiting() -> anyhow::Result<()> {
    let cluster = Cluster::start(small()).await?;
    let tenants =
        [Customer::sign_up(&cluster, "light").await?, Customer::sign_up(&cluster, "heavy").await?];
    let url = cluster.database().owner_url().to_owned();
    for tenant in &tenants {
        tenant.submit_batch(&vec![noop("200ms"); 6000], "backlog").await?;
    }
    let heavy = id_of(&cluster, "heavy").await?;
    // Of the starts in two seconds from now on, the part of one tenant.
    let share = async || -> anyhow::Result<f64> {
        let from = psql::run(&url, "select now()").await?;
        clock::sleep(Duration::from_secs(2)).await;
        let placed = format!(
            "from (select tenant_id, placed_at from task where placed_at is not null union all
                select tenant_id, placed_at from attempt) p where placed_at > '{from}'"
        );
        // One statement: between two more would be started, which the second alone would count.
        let counts =
            format!("select count(*), count(*) filter (where tenant_id = '{heavy}') {placed}");
        let counts = psql::run(&url, &counts).await?;
        let (all, own) = counts.trim().split_once('|').context("two counts")?;
        let (all, own): (f64, f64) = (all.parse()?, own.parse()?);
        anyhow::ensure!(all > 100.0, "only {all} tasks were started");
        Ok(own / all)
    };
    // What is expected of tasks that nothing is known of settles first.
    clock::sleep(Duration::from_secs(3)).await;
    let before = share().await?;
    assert!((0.4..=0.6).contains(&before), "{before} of the starts with even weights");
    cluster.berth(&["admin", "tenant", "set-plan", "heavy", "default", "--weight", "4"]).await?;
    // What was handed out before may still be on its way.
    clock::sleep(Duration::from_secs(1)).await;
    let after = share().await?;
    // Four fifths of what is handed out. Who of that is placed first is the resource managers' matter: at both ends of the time
    // a few of either may be missing.
    assert!((0.72..=0.88).contains(&after), "{after} of the starts with four times the weight");
    eprintln!("the share went from {before:.2} to {after:.2}");
    Ok(())
}

/// Waits until this is the decisive reason for which the task waits.
async fn waits_for(customer: &Customer, id: &str, reason: &str) -> anyhow::Result<Value> {
    let path = format!("/v1/tasks/{id}/explain");
    let mut last = Value::Null;
    for _ in 0..500 {
        last = customer.call("GET", &path, None, None).await?.1;
        if last["reasons"][0]["reason"] == reason {
            return Ok(last);
        }
        clock::sleep(Duration::from_millis(20)).await;
    }
    anyhow::bail!("not `{reason}`: {last}")
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_holds_a_task_up_is_the_reason_that_is_told() -> anyhow::Result<()> {
    let cluster = Cluster::start(small().with(Role::Scheduler, 1)).await?;
    let (limited, free) =
        (Customer::sign_up(&cluster, "limited").await?, Customer::sign_up(&cluster, "free").await?);
    cluster
        .berth(&["admin", "plan", "create", "two", "--running-tasks", "2", "--backlog", "4"])
        .await?;
    cluster.berth(&["admin", "tenant", "set-plan", "limited", "two"]).await?;

    // Two run, and two wait for the limit of the plan.
    let ids = limited.submit_batch(&vec![noop("10m"); 4], "limited").await?;
    let explanation = waits_for(&limited, &ids[3], "running_limit").await?;
    assert_eq!(
        (&explanation["reasons"][0]["held"], &explanation["reasons"][0]["limit"]),
        (&json!(2), &json!(2))
    );
    waits_for(&limited, &ids[0], "running").await?;
    let over = async || {
        let answer = limited.call("POST", "/v1/tasks", Some(&noop("0s")), None).await;
        answer.is_ok_and(|(status, problem)| status == 429 && problem["code"] == "quota_exceeded")
    };
    poll::until("a full backlog to be refused", Duration::from_secs(5), over).await?;
    cluster.berth(&["admin", "tenant", "suspend", "limited"]).await?;
    let explanation = waits_for(&limited, &ids[3], "tenant_suspended").await?;
    assert_eq!(
        explanation["reasons"].as_array().map(Vec::len),
        Some(2),
        "a limit of none is no other: {explanation}"
    );
    cluster.berth(&["admin", "tenant", "resume", "limited"]).await?;
    waits_for(&limited, &ids[3], "running_limit").await?;

    let with = |extra: Value| {
        let mut task = noop("10m");
        if let (Some(task), Some(extra)) = (task.as_object_mut(), extra.as_object()) {
            task.extend(extra.clone());
        }
        task
    };
    let keyed =
        free.submit_batch(&vec![with(json!({ "concurrency_key": "db" })); 2], "keyed").await?;
    waits_for(&free, &keyed[1], "concurrency_key").await?;
    for (extra, reason) in [
        (json!({ "delay": "1h" }), "due"),
        (json!({ "resources": { "cpu_millis": 40_000, "memory_mib": 1 } }), "too_large"),
        (json!({ "resources": { "cpu_millis": 16_000, "memory_mib": 1 } }), "no_room"),
    ] {
        let id = free.submit_until_answered(&with(extra), reason).await?;
        waits_for(&free, &id, reason).await?;
    }
    cluster.berth(&["admin", "pool", "pause", "default", "--because", "new racks"]).await?;
    waits_for(&limited, &ids[3], "pool_paused").await?;
    Ok(())
}
