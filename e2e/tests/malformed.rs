//! One malformed row must not stop anybody else: rows that no service can work with, put in past every check, beside tenants at work.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Shape, sum};
use runtime::clock;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::poll;

/// Takes the checks and the nulls of these tables away: no migration, no bug and no backup that is brought in does more.
const UNGUARD: &str = "do $$ declare c record; begin
    for c in select conrelid::regclass as of, conname from pg_constraint where contype = 'c'
        and conrelid in ('task'::regclass, 'task_spec'::regclass, 'schedule'::regclass, 'plan'::regclass, 'tenant'::regclass,
            'concurrency_limit'::regclass) loop
        execute format('alter table %s drop constraint %I', c.of, c.conname); end loop;
    for c in select attrelid::regclass as of, attname from pg_attribute where attnum > 0 and attnotnull and not attisdropped
        and attname not in ('id', 'tenant_id', 'name', 'key')
        and attrelid in ('task'::regclass, 'task_spec'::regclass, 'schedule'::regclass, 'plan'::regclass, 'tenant'::regclass,
            'concurrency_limit'::regclass) loop
        execute format('alter table %s alter column %I drop not null', c.of, c.attname); end loop;
    end $$";

/// Of tasks: what is wrong in `task`, and what in `task_spec`.
const TASKS: [(&str, &str); 12] = [
    ("", r#"run = '{"noop":'"#),
    ("", r#"run = '{"command":{"argv":7}}'"#),
    ("", "run = null"),
    ("", r#"retry = '{"factor":"two"}'"#),
    ("cap_ms = 9223372036854775807", ""),
    ("run_at = 'infinity', start_deadline = 'infinity'", "created_at = 'infinity'"),
    ("attempt = 2147483647", ""),
    ("slots = null, cpu_millis = -5", ""),
    ("expire_if_late = null, state = 'scheduled', wake_at = now()", ""),
    ("dispatch_epoch = null, state = 'queued', wake_at = now()", ""),
    ("pool = 'No Such Pool'", ""),
    ("max_attempts = null, strand = null", "labels = '[7]'"),
];

const SCHEDULES: [&str; 4] = [
    "timing = '{'",
    "template = '{}'",
    "overlap = 'sideways'",
    "misfire = null, created_at = 'infinity'",
];

fn noop(name: &str) -> Value {
    json!({"name": name, "run": {"noop": {"sleep": "20ms"}}})
}

fn small() -> Shape {
    Shape::default()
        .with(Role::Api, 1)
        .with(Role::Scheduler, 1)
        .with(Role::ResourceManager, 1)
        .with(Role::Executor, 1)
}

/// A task every 20 ms for a while.
async fn flow(customer: &Customer, name: &str, tasks: usize) -> anyhow::Result<()> {
    let began = clock::monotonic();
    for number in 0..tasks {
        clock::sleep_until(began + Duration::from_millis(20) * u32::try_from(number)?).await;
        customer.submit_until_answered(&noop(name), &format!("{name}-{number}")).await?;
    }
    Ok(())
}

/// How long 99 of 100 tasks of this name waited at most, in milliseconds.
async fn waited_ms(oracle: &Oracle<'_>, name: &str) -> anyhow::Result<i64> {
    oracle
        .number(&format!(
            "select ceil(extract(epoch from percentile_disc(0.99) within group (order by h.first_started_at - h.run_at)) * 1000)::bigint
                from task_history h join task_spec s on s.id = h.id where s.name = '{name}'"
        ))
        .await
}

/// Puts a task in that was stored as a good one and is broken in the same transaction.
fn bad_task(tenant: &str, (row, spec): (&str, &str)) -> String {
    let or = |set: &str, none: &str| if set.is_empty() { none.to_owned() } else { set.to_owned() };
    format!(
        "begin;
        with made as (select berth_first_id_of(current_date) as day, gen_random_uuid() as random),
        id as (select (left(day::text, 13) || '-7' || right(random::text, 21))::uuid as id from made),
        spec as (insert into task_spec (id, tenant_id, created_at, run_at, name, run, delay_tolerance_ms, key_id)
            select id, '{tenant}', now(), now(), 'bad', '{{\"noop\":{{}}}}', 300000, 'aaaaaaaaaaaa' from id)
        insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at, start_deadline,
                cap_ms, max_attempts, expire_if_late, at_most_once)
            select '{tenant}', id, 'default', 'ready', 'basic', 250, 512, 1024, 50, 1, 1, now(), now() + interval '5 minutes', 60000, 3,
                false, false from id;
        update task set {} where tenant_id = '{tenant}' and xmin = pg_current_xact_id()::xid;
        update task_spec set {} where tenant_id = '{tenant}' and xmin = pg_current_xact_id()::xid;
        commit;",
        or(row, "id = id"),
        or(spec, "id = id")
    )
}

/// Rows that no statement of ours would write: tasks and schedules of "bad", limits of "bad" and of "limited".
async fn put_malformed(database: &TestDatabase) -> anyhow::Result<()> {
    let id_of = async |name: &str| -> anyhow::Result<String> {
        let sql = format!("select id from tenant where name = '{name}'");
        Ok(database.sql(&sql).await?.trim().to_owned())
    };
    let (bad_id, limited_id) = (id_of("bad").await?, id_of("limited").await?);
    database.sql(UNGUARD).await?;
    let mut script = String::new();
    for task in TASKS {
        script.push_str(&bad_task(&bad_id, task));
    }
    for (number, wrong) in SCHEDULES.iter().enumerate() {
        script.push_str(&format!(
            "update schedule set {wrong}, version = version + 1 where name = 's{number}';"
        ));
    }
    script.push_str(&format!(
        "insert into plan select (jsonb_populate_record(null::plan, to_jsonb(p) || '{{\"name\": \"odd\"}}')).* from plan p where p.name = 'default';
        update plan set running_tasks = null, weight = 'NaN', backlog = -1, submits_per_second = 0 where name = 'odd';
        update tenant set plan = 'odd' where id = '{limited_id}';
        update tenant set weight = -1 where id = '{bad_id}';
        insert into concurrency_limit (tenant_id, key, running) values ('{limited_id}', 'k', -3), ('{limited_id}', 'l', null);"
    ));
    database.sql(&script).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_malformed_rows_end_or_are_paused_and_nobody_else_notices() -> anyhow::Result<()> {
    let mut cluster = Cluster::start(small()).await?;
    let good = Customer::sign_up(&cluster, "good").await?;
    let bad = Customer::sign_up(&cluster, "bad").await?;
    let limited = Customer::sign_up(&cluster, "limited").await?;
    let schedule =
        json!({"timing": {"specs": [{"every": {"every": "1s"}}]}, "task": noop("scheduled")});
    for number in 0..SCHEDULES.len() {
        let path = format!("/v1/schedules/s{number}");
        let (status, answer) = bad.call("PUT", &path, Some(&schedule), None).await?;
        anyhow::ensure!(status == 201, "{status}: {answer}");
    }
    flow(&good, "before", 250).await?;

    put_malformed(cluster.database()).await?;

    // While they are found, others go on: also the tenant whose limits cannot be used.
    let keyed = json!({"name": "keyed", "run": {"noop": {}}, "concurrency_key": "k"});
    for number in 0..5 {
        limited.submit_until_answered(&keyed, &format!("keyed-{number}")).await?;
    }
    flow(&good, "during", 250).await?;
    let oracle = Oracle::of(&cluster);
    oracle.drained(Duration::from_secs(60)).await?;

    let failed = "select count(*) from task_history h join task_spec s on s.id = h.id
        where s.name = 'bad' and h.state = 'failed' and h.reason like 'malformed: %'";
    assert_eq!(oracle.number(failed).await?, i64::try_from(TASKS.len())?);
    let charged = "select count(*) from attempt a join task_spec s on s.id = a.task_id where s.name = 'bad' and a.charged";
    assert_eq!(oracle.number(charged).await?, 0, "they cost nothing");
    // Nothing is fired of what the statements leave out, so it is looked for at leisure: a look that took half a second is followed
    // by one ten seconds later, at each of the two tables.
    let paused = format!(
        "select count(*) = {} from schedule where paused_because like 'malformed: %' and due_at is null",
        SCHEDULES.len()
    );
    poll::until("all of the schedules to be paused", Duration::from_secs(60), async || {
        cluster.database().sql(&paused).await.is_ok_and(|answer| answer.trim() == "t")
    })
    .await?;
    for name in ["before", "during", "keyed"] {
        let all = if name == "keyed" { 5 } else { 250 };
        let succeeded = format!(
            "select count(*) from task_history h join task_spec s on s.id = h.id where s.name = '{name}' and h.state = 'succeeded'"
        );
        assert_eq!(oracle.number(&succeeded).await?, all, "{name}");
    }
    let (before, during) =
        (waited_ms(&oracle, "before").await?, waited_ms(&oracle, "during").await?);
    println!(
        "99 of 100 tasks of another tenant waited {before} ms before, {during} ms beside malformed rows"
    );
    assert!(during <= (2 * before).max(250), "{before} ms before, {during} ms during");
    // Their owner sees why.
    let (status, shown) = bad.call("GET", "/v1/tasks?limit=100", None, None).await?;
    assert_eq!(status, 200, "{shown}");
    let shown = shown["data"].as_array().context("a list")?;
    let told = shown
        .iter()
        .filter(|task| task["reason"].as_str().is_some_and(|why| why.starts_with("malformed: ")));
    assert_eq!(told.count(), TASKS.len());
    let (status, _) = bad.call("GET", "/v1/schedules", None, None).await?;
    assert_eq!(status, 200);

    assert_eq!(cluster.panicked(), Vec::<String>::new());
    for role in Role::ALL {
        assert_eq!(
            sum(&mut cluster, role, "berth_tick_total", &["result=\"panic\""]).await?,
            0.0,
            "{role:?}"
        );
        assert_eq!(sum(&mut cluster, role, "berth_task_panics_total", &[]).await?, 0.0, "{role:?}");
    }
    assert!(sum(&mut cluster, Role::Scheduler, "berth_malformed_rows_total", &[]).await? >= 12.0);
    Ok(())
}
