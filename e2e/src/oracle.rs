//! Checks the promises after a run, from the tables and the ledger.
//!
//! Each check answers with sentences about what is wrong; none is good. It reads as the owner of the tables, past every policy,
//! so that nothing is hidden from it.

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
}

impl<'a> Oracle<'a> {
    /// For a cluster.
    pub fn of(cluster: &'a Cluster) -> Self {
        Self::on(cluster.database())
    }

    /// For whatever works on this database.
    pub fn on(database: &'a TestDatabase) -> Self {
        Self { database }
    }

    /// Waits until no task lives any more.
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
        while clock::monotonic() < until {
            if session.row("select count(*) from task").await? == "0" {
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
        let mut found = self.tables().await?;
        found.extend(self.acknowledged(submitted).await?);
        let runs = ledger.runs()?;
        found.extend(runs.faults());
        found.extend(runs.never_completed(submitted.commands.iter().map(String::as_str)));
        found.extend(runs.unexpected(submitted.commands.iter().map(String::as_str)));
        Ok(found)
    }

    /// What the tables alone can prove.
    pub async fn tables(&self) -> anyhow::Result<Vec<String>> {
        let checks = [
            ("task(s) both live and ended", "select count(*) from task join task_history using (tenant_id, id)"),
            ("task(s) ended more than once", "select count(*) from (select id from task_history group by id having count(*) > 1) d"),
            ("task(s) with a hole or a double in their attempts", "select count(*) from (
                select task_id from attempt group by task_id having max(attempt) <> count(*) or count(distinct attempt) <> count(*)) d"),
            ("ended task(s) whose attempts are not those they count", "select count(*) from task_history h
                where h.attempt <> (select count(*) from attempt a where a.tenant_id = h.tenant_id and a.task_id = h.id)"),
            ("task(s) with more charged attempts than allowed", "select count(*) from task_history h
                where (select count(*) from attempt a where a.task_id = h.id and a.charged) > h.max_attempts"),
            ("pair(s) of overlapping leases of one task", "select count(*) from attempt a join attempt b
                on a.task_id = b.task_id and a.attempt < b.attempt and b.placed_at < a.ended_at"),
            ("pair(s) of leases whose fence went down", "select count(*) from attempt a join attempt b
                on a.task_id = b.task_id and a.attempt < b.attempt and b.placed_at < a.placed_at"),
            ("uncharged attempt(s) that are billed", "select count(*) from attempt where not charged and usage_ms <> 0"),
            ("succeeded task(s) without exactly one succeeded attempt", "select count(*) from task_history h where h.state = 'succeeded'
                and 1 <> (select count(*) from attempt a where a.task_id = h.id and a.outcome = 'succeeded')"),
            ("lease(s) under a session that is over", "select count(*) from task t join executor_session s on s.id = t.session_id where s.state = 'over'"),
            ("executor(s) that were granted more than they have, at some instant", OVER_GRANTED),
        ];
        let mut found = Vec::new();
        for (what, sql) in checks {
            let count = self.number(sql).await.with_context(|| what.to_owned())?;
            if count > 0 {
                found.push(format!("{count} {what}"));
            }
        }
        Ok(found)
    }

    /// Every acknowledged task exists, exactly as many as were acknowledged, and each has ended well.
    async fn acknowledged(&self, submitted: &Submitted) -> anyhow::Result<Vec<String>> {
        let mut found = Vec::new();
        let ids: Vec<String> = submitted
            .all
            .iter()
            .map(|id| format!("('{}'::uuid)", id.trim_start_matches("task_")))
            .collect();
        let list = ids.join(",");
        let missing = self.number(&format!("select count(*) from (values {list}) i(id) where not exists (select from task_history h where h.id = i.id)")).await?;
        if missing > 0 {
            found.push(format!("{missing} acknowledged task(s) are lost"));
        }
        let states = self.database.sql("select state || ' ' || count(*) from task_history where state <> 'succeeded' group by state").await?;
        if !states.trim().is_empty() {
            found.push(format!("task(s) that did not succeed: {states}"));
        }
        let doubled = self.number("select count(*) from task_history").await?
            - i64::try_from(submitted.all.len())?;
        if doubled != 0 {
            found.push(format!("{doubled} task(s) more than were acknowledged"));
        }
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

    /// Tasks that ended in the `lasting` from `at_ms` (since 1970) on, a second.
    pub async fn ended_per_second(&self, at_ms: i64, lasting: Duration) -> anyhow::Result<f64> {
        let seconds = lasting.as_secs_f64();
        let sql = format!(
            "select count(*) from task_history where finished_at >= to_timestamp({at_ms} / 1000.0)
                and finished_at < to_timestamp({at_ms} / 1000.0 + {seconds})"
        );
        Ok(self.number(&sql).await? as f64 / seconds)
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
