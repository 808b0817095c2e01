//! `berth admin resume-after-restore`: what would fire, and with `--confirm`, lets it.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use client::Restore;

/// Whether to go on.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --confirm nothing changes. See docs/restore.md.\n\nExample:\n  berth admin resume-after-restore --confirm"
)]
pub struct ResumeAfterRestoreArguments {
    /// Release the schedules.
    #[arg(long)]
    pub confirm: bool,
}

/// Shows what is held, and lets it go where that is confirmed.
pub async fn run(
    arguments: &ResumeAfterRestoreArguments,
    connection: &Connection,
) -> Result<(), Failure> {
    let client = &connection.client;
    let standing = match arguments.confirm {
        true => client.resume_after_restore().await,
        false => client.restore().await,
    };
    let standing = standing.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(standing.json()),
        Format::Table => output::text(&page(&standing, arguments.confirm)),
    }
}

fn page(standing: &Restore, resumed: bool) -> String {
    let mut page = match &standing.held_because {
        Some(held) => format!("Held: {held}.\n\n"),
        None if resumed => String::new(),
        None => return "Schedules are not held.\n".to_owned(),
    };
    if standing.overdue == 0 {
        page.push_str("No schedule is overdue.\n");
    } else {
        let mut table = Table::new(["TENANT", "SCHEDULE", "DUE SINCE", "MISFIRE"]);
        for one in &standing.schedules {
            let due = one.due_at.to_rfc3339();
            table.row([one.tenant.clone(), one.name.clone(), due, one.misfire.to_string()]);
        }
        page.push_str(&table.take());
        let (shown, total) = (standing.schedules.len() as u64, standing.overdue);
        if shown < total {
            page.push_str(&format!("... and {} more\n", total - shown));
        }
        page.push_str(&format!(
            "\n{total} schedules have overdue times. On resume, the misfire policy of each applies.\n"
        ));
    }
    if standing.tasks.is_none() {
        page.push_str(
            "\nUnfinished tasks continue and are not held. They are too many to be counted here.\n",
        );
    }
    let counted = standing.tasks.as_deref().unwrap_or_default();
    if !counted.is_empty() {
        let mut table = Table::new(["TASKS", "STATE", "AT MOST ONCE"]);
        for of in counted {
            let once = if of.at_most_once { "yes" } else { "no" };
            table.row([of.count.to_string(), of.state.to_string(), once.to_owned()]);
        }
        page.push_str(&format!("\nUnfinished tasks continue and are not held:\n{}", table.take()));
    }
    page.push_str(if resumed {
        "\nSchedules fire again.\n"
    } else {
        "\nNothing was changed. To resume schedules: berth admin resume-after-restore --confirm\n"
    });
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::{OverdueSchedule, UnfinishedTasks};
    use domain::schedule::Misfire;
    use domain::task::State;

    #[test]
    fn what_would_fire_is_shown_before_anything_does() {
        let due_at = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = OverdueSchedule {
            tenant: "acme".to_owned(),
            name: "report".to_owned(),
            due_at,
            misfire: Misfire::Skip.into(),
        };
        let alive = UnfinishedTasks { state: State::Ready.into(), at_most_once: true, count: 3 };
        let mut standing = Restore {
            held_because: Some("restored".to_owned()),
            overdue: 7,
            schedules: vec![one],
            tasks: Some(vec![alive]),
        };
        let text = page(&standing, false);
        for part in [
            "acme",
            "report",
            "2023-11-14",
            "skip",
            "... and 6 more",
            "7 schedules",
            "ready",
            "--confirm",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        standing.held_because = None;
        assert!(page(&standing, true).contains("Schedules fire again."));
        assert!(page(&standing, false).contains("Schedules are not held"));
        standing.tasks = None;
        assert!(page(&standing, true).contains("too many to be counted"));
    }
}
