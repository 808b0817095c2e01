//! What open live pages of the dashboard cost the tasks of their tenant.

use super::submit_to_start::{QUIET, QUIET_CONNECTIONS, Watched, at_rate};
use crate::report::Measured;
use crate::statistics::of;
use std::time::Duration;

/// Pages that are open: half of them lists, which ask every 2 s, half overviews, which ask every 5 s.
const PAGES: u32 = 200;
/// Parts that they ask for each second together.
const PARTS_PER_S: u32 = PAGES / 2 / 2 + PAGES / 2 / 5;

/// Submit to start with [`PAGES`] open pages, and without, one after the other.
pub async fn live_pages(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let logged = super::event_times::STARTS_LOGGED;
    let without = at_rate(length, (QUIET, QUIET_CONNECTIONS), logged, None).await?;
    let watched = Some(Watched { parts_per_s: PARTS_PER_S });
    let with = at_rate(length, (QUIET, QUIET_CONNECTIONS), logged, watched).await?;
    let [p99_without, p99_with] = [&without, &with].map(|waits| of(&waits.started, 0.99));
    Ok(vec![
        Measured::new("live_pages_start_p99_part", p99_with / p99_without)
            .with_cpu(with.cpu)
            .with("pages", PAGES.into())
            .with("without_p50_ms", of(&without.started, 0.5))
            .with("without_p99_ms", p99_without)
            .with("with_p50_ms", of(&with.started, 0.5))
            .with("with_p99_ms", p99_with)
            .with("part_p50_ms", of(&with.parts, 0.5))
            .with("part_p95_ms", of(&with.parts, 0.95)),
    ])
}
