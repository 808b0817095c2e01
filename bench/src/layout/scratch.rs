//! A database with one of the two layouts.

use serde::Serialize;
use testkit::db::TestDatabase;

const NARROW: &str = include_str!("../../sql/layout_narrow_life.sql");
const WIDE_TABLE: &str = include_str!("../../sql/layout_wide.sql");
const WIDE: &str = include_str!("../../sql/layout_wide_life.sql");
const INPUT: &str = include_str!("../../sql/layout_input.sql");

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// The real tables.
    Narrow,
    /// One table for everything.
    Wide,
}

impl Layout {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Narrow => "narrow",
            Self::Wide => "wide",
        }
    }

    /// What a task's rows lie in, the one that the hot path works on first.
    pub(super) const fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Narrow => &["task", "task_spec", "task_history", "attempt"],
            Self::Wide => &["wide_task", "attempt"],
        }
    }
}

/// A migrated database with one layout.
pub struct Scratch {
    /// Which.
    pub layout: Layout,
    database: TestDatabase,
}

impl Scratch {
    /// With `history` ended tasks in it.
    pub async fn new(layout: Layout, history: u32) -> anyhow::Result<Self> {
        let scratch = Self { layout, database: TestDatabase::new().await? };
        scratch.input(0, 1).await?;
        match layout {
            Layout::Narrow => scratch.sql(NARROW).await?,
            Layout::Wide => scratch.sql(&format!("{WIDE_TABLE}{WIDE}")).await?,
        };
        if history > 0 {
            scratch.sql(&format!("call bench_{}_fill({history})", layout.name())).await?;
            scratch.sql(&format!("vacuum analyze {}", layout.tables().join(", "))).await?;
        }
        Ok(scratch)
    }

    /// The ids of the next life.
    pub async fn input(&self, life: u32, batches: u32) -> anyhow::Result<()> {
        self.sql(
            &INPUT.replace(":life", &life.to_string()).replace(":batches", &batches.to_string()),
        )
        .await
        .map(|_| ())
    }

    /// Empties the tables.
    pub async fn empty(&self) -> anyhow::Result<()> {
        self.sql(&format!("truncate {}", self.layout.tables().join(", "))).await.map(|_| ())
    }

    /// Cleans up what the lives have left.
    pub async fn vacuum(&self) -> anyhow::Result<()> {
        self.sql(&format!("vacuum {}", self.layout.tables().join(", "))).await.map(|_| ())
    }

    /// Size of a table with its partitions, and of their indexes, in bytes.
    pub async fn bytes(&self, table: &str) -> anyhow::Result<(f64, f64)> {
        let sizes = self
            .numbers(&format!(
                "select sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) from pg_class where relkind = 'r'
                    and (oid = '{table}'::regclass or oid in (select relid from pg_partition_tree('{table}') where isleaf))"
            ))
            .await?;
        Ok((sizes[0], sizes[1]))
    }

    /// The owner's URL.
    pub fn url(&self) -> &str {
        self.database.owner_url()
    }

    /// Runs SQL.
    pub async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        self.database.sql(sql).await
    }

    /// Some numbers of one row.
    pub async fn numbers(&self, sql: &str) -> anyhow::Result<Vec<f64>> {
        let row = self.sql(sql).await?;
        Ok(row.split('|').map(|field| field.trim().parse()).collect::<Result<_, _>>()?)
    }
}
