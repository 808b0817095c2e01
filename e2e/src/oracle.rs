//! Checks the promises after a run, from the tables and the ledger.
//!
//! Each check answers with what is wrong and which promise that breaks; nothing is good. It reads as the owner of the tables, past
//! every policy, so that nothing is hidden from it.

use crate::promise::{Promise, Violation};
use crate::{Cluster, Submitted};
use anyhow::{Context, ensure};
use runtime::clock::{self, Instant};
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::poll;
use testkit::psql::Session;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Reads a Berth from outside.
pub struct Oracle<'a> {
    database: &'a TestDatabase,
    /// Whose tasks were all acknowledged to the caller: a condition on rows `h`.
    asked_for: String,
}

impl<'a> Oracle<'a> {
    /// For a cluster.
    pub fn of(cluster: &'a Cluster) -> Self {
        Self::on(cluster.database())
    }

    /// For whatever works on this database.
    pub fn on(database: &'a TestDatabase) -> Self {
        Self { database, asked_for: "true".to_owned() }
    }

    /// Others make tasks, too: only those of these tenants, named by the condition on a row `h` of tasks, must all have been
    /// acknowledged and end well.
    #[must_use]
    pub fn only(mut self, condition: impl Into<String>) -> Self {
        self.asked_for = condition.into();
        self
    }

    /// That condition.
    pub(crate) fn condition(&self) -> &str {
        &self.asked_for
    }

    /// Waits until none of these tasks lives any more.
    pub async fn drained(&self, limit: Duration) -> anyhow::Result<()> {
        let began = clock::monotonic();
        let ended = async {
            // Somebody may just be killing the database.
            while !self.has_drained(began + limit).await.unwrap_or(false) {
                ensure!(began.elapsed() < limit, "some live on");
                clock::sleep(BETWEEN_LOOKS).await;
            }
            Ok(())
        };
        let ended = ended.await;
        if ended.is_err() {
            let left = self.database.sql("select state, count(*), min(wake_at - now()), max(attempt) from task group by 1").await?;
            anyhow::bail!("tasks still live after {limit:?}:\n{left}");
        }
        Ok(())
    }

    /// Looks until all have ended, or until then.
    async fn has_drained(&self, until: Instant) -> anyhow::Result<bool> {
        let mut session = self.session()?;
        let live = format!("select count(*) from task h where {}", self.asked_for);
        while clock::monotonic() < until {
            if session.row(&live).await? == "0" {
                return Ok(true);
            }
            clock::sleep(BETWEEN_LOOKS).await;
        }
        Ok(false)
    }

    /// A session for many looks.
    pub(crate) fn session(&self) -> anyhow::Result<Session> {
        self.database.session()
    }

    /// What holds of any run and shows afterwards: that nothing was lost or done without being asked for (promise 1), that each
    /// task ended once (2), that leases of one task follow each other (3), that attempts are dense and charged ones within their
    /// limit (4), that nothing was granted beyond what there is (5), and that what is not charged is not billed (8).
    ///
    /// What is held now does not show afterwards: [`Oracle::free_again`] for reservations, [`crate::watch_ports`] for ports.
    /// Bills are compared by [`crate::usage_faults`].
    pub async fn violations(
        &self,
        submitted: &Submitted,
        ledger: &Ledger,
    ) -> anyhow::Result<Vec<String>> {
        let found = self.broken(submitted, ledger).await?;
        Ok(found.iter().map(Violation::to_string).collect())
    }

    /// The same, by promise.
    pub async fn broken(
        &self,
        submitted: &Submitted,
        ledger: &Ledger,
    ) -> anyhow::Result<Vec<Violation>> {
        let mut found = self.tables().await?;
        found.extend(self.acknowledged(submitted).await?);
        let runs = ledger.runs()?;
        let commands = || submitted.commands.iter().map(String::as_str);
        found.extend(Violation::each(Promise::Leases, runs.faults()));
        found.extend(Violation::each(Promise::Durable, runs.never_completed(commands())));
        found.extend(Violation::each(Promise::Durable, runs.unexpected(commands())));
        Ok(found)
    }

    /// What the tables alone can prove.
    pub async fn tables(&self) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        for (promise, what, sql) in TABLES {
            let count = self.number(sql).await.with_context(|| (*what).to_owned())?;
            found.extend(Violation::counted(*promise, count, *what));
        }
        Ok(found)
    }

    /// Every acknowledged task exists, exactly as many as were acknowledged, and each has ended well.
    async fn acknowledged(&self, submitted: &Submitted) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        let ids: Vec<String> = submitted
            .all
            .iter()
            .map(|id| format!("('{}'::uuid)", id.trim_start_matches("task_")))
            .collect();
        let (list, asked_for) = (ids.join(","), &self.asked_for);
        let missing = self.number(&format!("select count(*) from (values {list}) i(id) where not exists (select from task_history h where h.id = i.id)")).await?;
        found.extend(Violation::counted(
            Promise::Durable,
            missing,
            "acknowledged task(s) are lost",
        ));
        // None of the tasks here fails by itself.
        let states = self
            .rows(&format!("select state, count(*) from task_history h where state <> 'succeeded' and {asked_for} group by state"))
            .await?;
        for row in states {
            let [state, count] = row.as_slice() else { anyhow::bail!("{row:?} is no state") };
            let what = format!("task(s) did not succeed: {state}");
            found.extend(Violation::counted(Promise::Attempts, count.parse()?, what));
        }
        let all =
            self.number(&format!("select count(*) from task_history h where {asked_for}")).await?;
        let doubled = all - i64::try_from(submitted.all.len())?;
        let what = "task(s) more than were acknowledged";
        found.extend(Violation::counted(Promise::Durable, doubled, what));
        Ok(found)
    }

    /// What executors have to give now, in basic tasks, as their resource managers tell.
    pub async fn free_slots(&self) -> anyhow::Result<i64> {
        self.number("select coalesce(sum(free_slots), 0)::bigint from pool_load where reported_at > now() - interval '3 seconds'").await
    }

    /// Waits until executors have just so much to give: nothing is reserved, or all of them are there.
    pub async fn free_again(&self, slots: i64, limit: Duration) -> anyhow::Result<()> {
        let what = format!("{slots} slots to be free");
        let free = poll::until(&what, limit, || async {
            self.free_slots().await.is_ok_and(|free| free == slots)
        })
        .await;
        match free {
            Ok(()) => Ok(()),
            Err(error) => anyhow::bail!("{error}; there are {}", self.free_slots().await?),
        }
    }

    /// How long after `at_ms` (since 1970) the first attempt (`a`, of a task with spec `s`) came to an end of its own, of those
    /// whose `column` is later; fails where there is none: then there was no work to resume.
    pub async fn first_end_after(&self, at_ms: i64, column: &str) -> anyhow::Result<Duration> {
        let sql = format!(
            "select ceil(extract(epoch from min(a.ended_at)) * 1000)::bigint - {at_ms}
            from attempt a join task_spec s on s.id = a.task_id
            where {column} >= to_timestamp({at_ms} / 1000.0) and a.outcome in ('succeeded', 'failed')"
        );
        Ok(Duration::from_millis(self.number(&sql).await?.try_into()?))
    }

    /// The part of the tasks taken in the `lasting` from `at_ms` (since 1970) on that ended within `limit`; fails where none was taken.
    pub async fn ended_within(
        &self,
        limit: Duration,
        (at_ms, lasting): (i64, Duration),
    ) -> anyhow::Result<f64> {
        let sql = format!(
            "select count(*), count(*) filter (where h.finished_at <= s.created_at + interval '{} ms')
            from task_history h join task_spec s on (s.tenant_id, s.id) = (h.tenant_id, h.id)
            where s.created_at >= to_timestamp({at_ms} / 1000.0)
                and s.created_at < to_timestamp({at_ms} / 1000.0 + {})",
            limit.as_millis(),
            lasting.as_secs_f64()
        );
        let rows = self.rows(&sql).await?;
        let counts = rows.first().into_iter().flatten().map(|count| count.parse());
        let counts: Vec<f64> = counts.collect::<Result<_, _>>()?;
        let [taken, ended] = counts[..] else { anyhow::bail!("{rows:?} are no counts") };
        ensure!(taken > 0.0, "no task was taken then");
        Ok(ended / taken)
    }

    /// How attempts ended, for people: outcome, whether charged, why, how often.
    pub async fn endings(&self) -> anyhow::Result<String> {
        let sql = "select outcome, charged, left(reason, 100), count(*) from attempt group by 1, 2, 3 order by 4 desc limit 20";
        self.database.sql(sql).await
    }

    /// Rows of fields, from SQL.
    pub async fn rows(&self, sql: &str) -> anyhow::Result<Vec<Vec<String>>> {
        let text = self.database.sql(sql).await?;
        Ok(text.lines().map(|row| row.split('|').map(str::to_owned).collect()).collect())
    }

    /// One number, from SQL.
    pub async fn number(&self, sql: &str) -> anyhow::Result<i64> {
        let text = self.database.sql(sql).await?;
        text.trim().parse().with_context(|| format!("`{text}` is no number"))
    }
}

/// What nobody may find in the tables once all tasks have ended.
const TABLES: &[(Promise, &str, &str)] = &[
    (Promise::EndsOnce, "task(s) both live and ended", "select count(*) from task join task_history using (tenant_id, id)"),
    (Promise::EndsOnce, "task(s) ended more than once",
        "select count(*) from (select id from task_history group by id having count(*) > 1) d"),
    (Promise::Attempts, "task(s) with a hole or a double in their attempts", "select count(*) from (
        select task_id from attempt group by task_id having max(attempt) <> count(*) or count(distinct attempt) <> count(*)) d"),
    (Promise::Attempts, "ended task(s) whose attempts are not those they count", "select count(*) from task_history h
        left join (select tenant_id, task_id, count(*) as n from attempt group by 1, 2) a on a.tenant_id = h.tenant_id and a.task_id = h.id
        where h.attempt <> coalesce(a.n, 0)"),
    (Promise::Attempts, "task(s) with more charged attempts than allowed", "select count(*) from task_history h
        join (select task_id, count(*) as n from attempt where charged group by 1) a on a.task_id = h.id where a.n > h.max_attempts"),
    (Promise::Attempts, "charged attempt(s) that the infrastructure lost",
        "select count(*) from attempt where charged and outcome in ('lost', 'handed_back', 'not_started')"),
    (Promise::Leases, "pair(s) of overlapping leases of one task", "select count(*) from attempt a join attempt b
        on a.task_id = b.task_id and a.attempt < b.attempt and b.placed_at < a.ended_at"),
    (Promise::Leases, "pair(s) of leases whose fence went down", "select count(*) from attempt a join attempt b
        on a.task_id = b.task_id and a.attempt < b.attempt and b.placed_at < a.placed_at"),
    (Promise::Bills, "uncharged attempt(s) that are billed", "select count(*) from attempt where not charged and usage_ms <> 0"),
    (Promise::Bills, "attempt(s) billed for longer than their lease",
        "select count(*) from attempt where usage_ms > ceil(extract(epoch from ended_at - placed_at) * 1000)"),
    // One that its owner marked has none, nor a node that waited or became items.
    (Promise::EndsOnce, "succeeded task(s) without exactly one succeeded attempt", "select count(*) from task_history h
        left join (select task_id, count(*) as n from attempt where outcome = 'succeeded' group by 1) a on a.task_id = h.id
        where h.state = 'succeeded' and coalesce(a.n, 0) <> case when h.reason like 'marked as succeeded: %' or (h.attempt = 0
            and exists (select from task_spec s where s.id = h.id and s.gate is not null)) then 0 else 1 end"),
    (Promise::Capacity, "lease(s) under a session that is over",
        "select count(*) from task t join executor_session s on s.id = t.session_id where s.state = 'over'"),
    (Promise::Capacity, "executor(s) that were granted more than they have, at some instant", OVER_GRANTED),
    (Promise::Workflows, "task(s) that started before enough of their parents had ended as asked", STARTED_EARLY),
    (Promise::Workflows, "task(s) that were skipped although enough of their parents ended as asked", SKIPPED_WRONGLY),
    (Promise::Workflows, "edge(s) of parents that have ended, never decided",
        "select count(*) from task_edge e where not exists (select from task t where t.tenant_id = e.tenant_id and t.id = e.parent_id)
            and not exists (select from task_release r where r.tenant_id = e.tenant_id and r.parent_id = e.parent_id)"),
    (Promise::Workflows, "workflow run(s) that go on without a task", "select count(*) from workflow_run r
        where r.finished_at is null and not exists (select from task t where t.tenant_id = r.tenant_id and t.run_id = r.id)
            and not exists (select from workflow_tally y where y.tenant_id = r.tenant_id and y.run_id = r.id)"),
    (Promise::Workflows, "workflow run(s) whose tasks are not counted as they ended", "select count(*) from workflow_run r
        left join (select s.run_id, count(*) as ended, count(*) filter (where h.state not in ('succeeded', 'skipped')) as failed
            from task_history h join task_spec s on s.id = h.id where s.run_id is not null group by 1) n on n.run_id = r.id
        where r.finished_at is not null and (r.ended <> r.total or coalesce(n.ended, 0) <> r.total or coalesce(n.failed, 0) <> r.failed)"),
];

/// Of each ended task with parents: how many edges it needed, how many held in the end, and how many when it started.
macro_rules! of_children {
    ($wrong:literal) => {
        concat!(
            "with edge as (
                select h.tenant_id, h.id, h.state, h.first_started_at, h.reason, s.depends_on::jsonb -> 'join' as needed, p.finished_at,
                    case e.edge ->> 'on' when 'succeeded' then p.state = 'succeeded'
                        when 'failed' then p.state in ('failed', 'aborted', 'killed', 'expired')
                        when 'expired' then p.state = 'expired'
                        when 'skipped_ok' then p.state in ('succeeded', 'skipped')
                        else p.state is not null end as holds
                from task_history h join task_spec s on s.id = h.id and s.depends_on is not null
                cross join lateral jsonb_array_elements(s.depends_on::jsonb -> 'edges') e(edge)
                left join task_history p on p.tenant_id = h.tenant_id and p.id = substr(e.edge ->> 'task', 6)::uuid
            ), child as (
                select id, state, first_started_at, reason,
                    case when needed = '\"any\"' then 1 when needed ? 'at_least' then (needed ->> 'at_least')::bigint else count(*) end as needs,
                    count(*) filter (where holds) as held,
                    count(*) filter (where holds and finished_at <= first_started_at) as held_then
                from edge group by id, state, first_started_at, reason, needed
            )
            select count(*) from child where ",
            $wrong
        )
    };
}

/// A task that its owner started by hand would count, too: no test does both.
const STARTED_EARLY: &str = of_children!("first_started_at is not null and held_then < needs");
/// Not one whose own `if` did not hold.
const SKIPPED_WRONGLY: &str = of_children!(
    "state = 'skipped' and held >= needs and reason not like 'its `if` does not hold%'"
);

/// Sums what each executor held at each instant at which something was granted on it.
const OVER_GRANTED: &str = "
    with changes as (
        select session_id, placed_at as at, cpu_millis, memory_mib, disk_mib, iops, ports from attempt
        union all
        select session_id, ended_at, -cpu_millis, -memory_mib, -disk_mib, -iops, -ports from attempt
    ), held as (
        select session_id,
            sum(cpu_millis) over w as cpu, sum(memory_mib) over w as memory, sum(disk_mib) over w as disk,
            sum(iops) over w as iops, sum(ports) over w as ports
        from changes
        -- What ends at an instant is gone before what begins at it.
        window w as (partition by session_id order by at, cpu_millis, memory_mib, disk_mib, iops, ports
            rows between unbounded preceding and current row)
    )
    select count(distinct h.session_id) from held h join executor_session s on s.id = h.session_id
    where h.cpu > s.cpu_millis or h.memory > s.memory_mib or h.disk > s.disk_mib or h.iops > s.iops or h.ports > s.port_count";
