//! One look at what may grow: memory, connections, dead rows, disk, and how long tasks take.

use super::rig::Rig;
use crate::Role;
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use testkit::memory;

/// What is looked at, in the order of [`Sample::values`].
pub const FIGURES: [&str; 8] = [
    "memory of api, MiB",
    "memory of schedulers, MiB",
    "memory of resource managers, MiB",
    "connections to Postgres",
    "dead rows",
    "disk of what is not kept, MiB",
    "submit to start, p50, ms",
    "submit to start, p99, ms",
];

/// One look.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Since the beginning.
    pub after: Duration,
    /// By [`FIGURES`].
    pub values: [f64; 8],
    /// MiB of each table with its indexes; days of one are one.
    pub tables: BTreeMap<String, f64>,
}

/// Looks; what takes time, over the last `over`.
pub async fn sample(rig: &mut Rig, after: Duration, over: Duration) -> anyhow::Result<Sample> {
    let mut resident = [0.0; 3];
    for (sum, role) in resident.iter_mut().zip([Role::Api, Role::Scheduler, Role::ResourceManager])
    {
        for at in rig.cluster.of(role) {
            *sum += memory::resident_kib(rig.cluster.process(at)?.pid())? as f64 / 1024.0;
        }
    }
    let waited = "extract(epoch from h.first_started_at - s.created_at) * 1000";
    let sql = format!(
        "select (select count(*) from pg_stat_activity where usename like 'berth\\_%'),
            (select sum(n_dead_tup) from pg_stat_user_tables),
            -- Days are dropped as a whole; what they hold grows until then, as it should. The audit and its seals, a row each for every
            -- change, are kept for good.
            (select sum(pg_total_relation_size(c.oid)) / 1048576.0 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where n.nspname = 'public' and c.relkind = 'r' and not c.relispartition and c.relname not in ('idempotency', 'audit', 'audit_seal')),
            coalesce(percentile_disc(0.5) within group (order by {waited}), 0),
            coalesce(percentile_disc(0.99) within group (order by {waited}), 0)
        from task_history h join task_spec s on s.id = h.id
        where h.finished_at > now() - interval '{} seconds' and h.attempt = 1",
        over.as_secs_f64()
    );
    let row = rig.sql(&sql).await?;
    let figures: Vec<f64> =
        row.trim().split('|').map(str::parse).collect::<Result<_, _>>().context(row.clone())?;
    let &[connections, dead, disk, p50, p99] = figures.as_slice() else {
        anyhow::bail!("{row} is no sample");
    };
    let [api, scheduler, manager] = resident;
    let values = [api, scheduler, manager, connections, dead, disk, p50, p99];
    Ok(Sample { after, values, tables: tables(rig).await? })
}

async fn tables(rig: &Rig) -> anyhow::Result<BTreeMap<String, f64>> {
    let sql = "select coalesce(p.relname, c.relname), sum(pg_total_relation_size(c.oid)) / 1048576.0
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
            left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
        where n.nspname = 'public' and c.relkind = 'r' group by 1";
    let rows = rig.sql(sql).await?;
    rows.lines()
        .filter_map(|row| {
            let (name, size) = row.trim().split_once('|')?;
            Some(size.parse().map(|size| (name.to_owned(), size)).context("no size"))
        })
        .collect()
}

impl Sample {
    /// For programs.
    pub fn json(&self) -> Value {
        json!({ "after_s": self.after.as_secs_f64(), "values": self.values, "tables_mib": self.tables })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [api, scheduler, manager, connections, dead, disk, p50, p99] = self.values;
        write!(
            out,
            "memory {api:.0} + {scheduler:.0} + {manager:.0} MiB, {connections} connections, {dead} dead rows, {disk:.1} MiB, \
             start p50 {p50:.0} p99 {p99:.0} ms"
        )
    }
}
