//! The comparison, and its table.

use super::life::Life;
use super::scratch::Layout;
use crate::statistics::median;
use serde::Serialize;
use std::io::{self, Write};

/// All lives of both layouts.
#[derive(Debug, Serialize)]
pub struct LayoutResult {
    /// Tasks of a life.
    pub tasks: u32,
    /// Tasks of a statement.
    pub batch: u32,
    /// In the order in which they were lived.
    pub lives: Vec<Life>,
}

type Column = (&'static str, fn(&Life) -> f64);

const COLUMNS: [Column; 10] = [
    ("tasks/s", |life| life.tasks_per_s),
    ("Postgres us a task", |life| life.postgres_us),
    ("vacuum us a task", |life| life.vacuum_us),
    ("log bytes a task", |life| life.wal_bytes),
    ("choosing, mean ms", |life| life.choose_mean_ms),
    ("choosing, p99 ms", |life| life.choose_p99_ms),
    ("hot table MiB", |life| life.hot_mib),
    ("  with indexes MiB", |life| life.hot_with_indexes_mib),
    ("all tables MiB", |life| life.all_mib),
    ("cores busy elsewhere", |life| life.other_cores),
];

impl LayoutResult {
    /// Medians side by side.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let mut histories: Vec<u32> = self.lives.iter().map(|life| life.history).collect();
        histories.dedup();
        for history in histories {
            writeln!(
                out,
                "\nlayouts, {} tasks in batches of {}, {history} ended before; medians",
                self.tasks, self.batch
            )?;
            writeln!(out, "{:<24} {:>12} {:>12} {:>12}", "", "narrow", "wide", "wide/narrow")?;
            for (name, of) in COLUMNS {
                let middle = |layout| {
                    let lives = self
                        .lives
                        .iter()
                        .filter(|life| life.history == history && life.layout == layout);
                    median(&lives.map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
                };
                let (narrow, wide) = (middle(Layout::Narrow), middle(Layout::Wide));
                writeln!(out, "{name:<24} {narrow:>12.2} {wide:>12.2} {:>12.2}", wide / narrow)?;
            }
        }
        Ok(())
    }
}
