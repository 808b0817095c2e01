//! Both layouts in turn, without and with history.

use super::life::{BATCH, life};
use super::result::LayoutResult;
use super::scratch::{Layout, Scratch};
use crate::arguments::Arguments;
use crate::progress::say;

/// As many rounds as asked for.
pub async fn compare(arguments: &Arguments) -> anyhow::Result<LayoutResult> {
    let tasks = arguments.layout_tasks();
    let mut lives = Vec::new();
    for history in [0, arguments.history] {
        say(&format!("layouts with {history} ended tasks: preparing"));
        let narrow = Scratch::new(Layout::Narrow, history).await?;
        let wide = Scratch::new(Layout::Wide, history).await?;
        for round in 0..arguments.rounds() {
            // Who goes first changes, too.
            let turns = if round % 2 == 0 { [&narrow, &wide] } else { [&wide, &narrow] };
            for scratch in turns {
                if history == 0 {
                    scratch.empty().await?;
                }
                let lived = life(scratch, history, round, tasks).await?;
                say(&format!(
                    "    {:<6} {:>8.0} tasks/s, {:>6.1} us of Postgres a task, choosing {:.2} ms",
                    scratch.layout.name(),
                    lived.tasks_per_s,
                    lived.postgres_us,
                    lived.choose_mean_ms
                ));
                lives.push(lived);
            }
        }
    }
    Ok(LayoutResult { tasks: tasks / BATCH * BATCH, batch: BATCH, lives })
}
