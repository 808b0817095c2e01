//! Many schedules at once, put straight into the tables, and what their ledger must show.

use crate::Cluster;
use anyhow::Context;
use domain::schedule::rules_version;
use serde_json::json;
use std::time::Duration;
use testkit::psql;
use testkit::schedules::noop_template;

/// Whose the schedules are.
const TENANT: &str = "018f0000-0000-7000-8000-0000000000aa";

/// Schedules of one tenant, each due again and again after the same time, their due times spread evenly over it.
#[derive(Debug, Clone)]
pub struct Schedules {
    url: String,
    every: Duration,
}

/// How long after it was to be fired a due time was written, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lateness {
    /// Due times that were written.
    pub fired: f64,
    /// The middle.
    pub p50: f64,
    /// All but a hundredth.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Schedules {
    /// Stores `count` schedules; the first is due `lead` from now, and from then on `count` in each `every`. All at the
    /// same moment where they are not `spread`.
    pub async fn store(
        cluster: &Cluster,
        count: u32,
        every: Duration,
        lead: Duration,
        spread: bool,
    ) -> anyhow::Result<Self> {
        let template = serde_json::to_string(&noop_template("tick"))?;
        let all = Self { url: cluster.database().owner_url().to_owned(), every };
        all.insert(count, (lead, spread), (&template, "null", "")).await?;
        Ok(all)
    }

    /// The same of schedules that each start runs of a workflow of two nodes, one after the other.
    pub async fn store_runs(
        cluster: &Cluster,
        count: u32,
        every: Duration,
        lead: Duration,
    ) -> anyhow::Result<Self> {
        let all = Self { url: cluster.database().owner_url().to_owned(), every };
        let task = noop_template("tick");
        let second =
            json!({"name": "two", "task": task, "after": [{"node": 0, "on": "succeeded"}]});
        let plan = json!({"nodes": [{"name": "one", "task": task}, second]});
        // None is due before its workflow is there.
        let workflow = format!(
            "insert into workflow (tenant_id, name, version, definition, plan, nodes, updated_by)
                values ('{TENANT}', 'nightly', 1, '{{}}', '{plan}', 2, 'aaaaaaaaaaaa');"
        );
        let starts = (r#"{"workflow":"nightly"}"#, "'nightly'", workflow.as_str());
        all.insert(count, (lead, true), starts).await?;
        Ok(all)
    }

    async fn insert(
        &self,
        count: u32,
        (lead, spread): (Duration, bool),
        (template, workflow, first): (&str, &str, &str),
    ) -> anyhow::Result<()> {
        let every = self.every;
        let (seconds, lead) = (every.as_secs_f64(), lead.as_secs_f64());
        let step = if spread { seconds / f64::from(count) } else { 0.0 };
        self.sql(&format!(
            "insert into tenant (id, name) values ('{TENANT}', 'schedules') on conflict do nothing;
            update plan set limits = limits || '{{\"backlog\": 100000000, \"schedules\": 10000000, \"workflow_runs\": 10000000}}'
                where name = 'default';
            {first}
            insert into schedule (id, tenant_id, name, timing, template, overlap, misfire, created_at, created_by, shard, due_at, fire_at, tzdb,
                    workflow)
                select n.id, '{TENANT}', n.id::text, '{{\"specs\":[{{\"every\":{{\"every\":\"{seconds}s\",\"anchor\":\"'
                        || to_char(n.first at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') || '\"}}}}],\"zone\":\"UTC\"}}',
                    '{template}', 'allow', '\"fire_next_soon\"', now() - interval '1 minute', 'aaaaaaaaaaaa', n.at % (select count(*) from schedule_shard),
                    n.first, n.first, '{}', {workflow}
                from (select gen_random_uuid() as id, g.at,
                        date_trunc('milliseconds', clock.now) + interval '{lead} seconds' + g.at * interval '{step} seconds' as first
                    from generate_series(0, {count} - 1) as g(at), (select clock_timestamp() as now) clock) n;
            create table if not exists first_due (id uuid primary key, at timestamptz);
            insert into first_due select id, due_at from schedule on conflict do nothing;
            analyze schedule",
            rules_version()
        ))
        .await
        .map(drop)
    }

    async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        psql::run(&self.url, sql).await
    }

    /// What is wrong with the ledger at this moment: due times without a row, tasks and runs made twice or of no due time, fires that
    /// were early, and due times that are more than `behind` in the past.
    pub async fn faults(&self, behind: Duration) -> anyhow::Result<Vec<String>> {
        let (every, behind) = (self.every.as_secs_f64(), behind.as_secs_f64());
        let checks = [
            ("fired early", "select count(*) from schedule_fire where fired_at < due_at".to_owned()),
            (
                "schedules whose due times do not all have a row",
                format!(
                    "select count(*) from schedule s join first_due d using (id)
                        left join (select schedule_id as id, count(*) as rows from schedule_fire group by 1) f using (id)
                        where coalesce(f.rows, 0) <> round(extract(epoch from s.due_at - d.at) / {every})"
                ),
            ),
            (
                "tasks of two due times",
                "select count(task_id) - count(distinct task_id) from schedule_fire".to_owned(),
            ),
            (
                "runs of two due times",
                "select count(run_id) - count(distinct run_id) from schedule_fire".to_owned(),
            ),
            (
                "fires whose run is not there",
                "select count(*) from schedule_fire f where f.run_id is not null and not exists (
                    select from workflow_run r where r.tenant_id = f.tenant_id and r.id = f.run_id and r.schedule_id = f.schedule_id
                        and r.due_at = f.due_at)"
                    .to_owned(),
            ),
            (
                "more or fewer runs than fires",
                "select (select count(*) from workflow_run where schedule_id is not null) - (select count(run_id) from schedule_fire)".to_owned(),
            ),
            (
                "more tasks than fires",
                format!(
                    "select (select count(*) from task where tenant_id = '{TENANT}') + (select count(*) from task_history where tenant_id = '{TENANT}')
                        - (select count(task_id) + 2 * count(run_id) from schedule_fire where tenant_id = '{TENANT}')"
                ),
            ),
            (
                "due times left behind",
                format!(
                    "select count(*) from schedule where due_at < clock_timestamp() - interval '{behind} seconds'"
                ),
            ),
        ];
        let mut faults = Vec::new();
        // All of one moment: schedulers go on.
        let all = checks.iter().map(|(_, sql)| format!("({sql})")).collect::<Vec<_>>().join(", ");
        let counts = self.sql(&format!("select {all}")).await?;
        for ((what, _), count) in checks.iter().zip(counts.trim().split('|')) {
            if count != "0" {
                faults.push(format!("{count} {what}"));
            }
        }
        Ok(faults)
    }

    /// How late due times were that came after the first `warm` of all.
    pub async fn lateness(&self, warm: Duration) -> anyhow::Result<Lateness> {
        let sql = format!(
            "select count(*), coalesce(percentile_disc(0.5) within group (order by l.ms), 0),
                    coalesce(percentile_disc(0.99) within group (order by l.ms), 0), coalesce(max(l.ms), 0)
                from (select extract(epoch from f.fired_at - f.due_at) * 1000 as ms from schedule_fire f
                    where f.due_at >= (select min(at) from first_due) + interval '{} seconds') l",
            warm.as_secs_f64()
        );
        let row = self.sql(&sql).await?;
        let values: Vec<f64> =
            row.trim().split('|').map(str::parse).collect::<Result<_, _>>().context(row.clone())?;
        let [fired, p50, p99, max] = values[..] else { anyhow::bail!("four values, not {row}") };
        Ok(Lateness { fired, p50, p99, max })
    }

    /// Pauses all of them: due times go on to be written down, and make no task.
    pub async fn pause(&self) -> anyhow::Result<()> {
        self.sql("update schedule set paused_at = now(), paused_by = 'test', version = version + 1, updated_at = now()")
            .await
            .map(drop)
    }

    /// Due times that made no task and no run.
    pub async fn left_out(&self) -> anyhow::Result<i64> {
        psql::number(
            &self.url,
            "select count(*) from schedule_fire where task_id is null and run_id is null",
        )
        .await
    }
}
