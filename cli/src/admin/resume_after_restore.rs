//! `berth admin resume-after-restore`: what would fire, and with `--confirm`, lets it.

use super::database;
use super::operator::OperatorSettings;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use runtime::config;
use serde_json::{Value, json};
use store::StoreError;
use store::connect::AdminDb;
use store::installation::{self, AliveTasks, Overdue};

/// Schedules that are shown by name.
const SHOWN: i32 = 50;

/// Whether to go on.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --confirm nothing changes. See docs/restore.md.\n\nExample:\n  berth admin resume-after-restore --confirm"
)]
pub struct ResumeAfterRestoreArguments {
    /// Release the schedules.
    #[arg(long)]
    pub confirm: bool,
    #[command(flatten)]
    settings: OperatorSettings,
}

/// What an operator should know before.
struct Standing {
    held: Option<String>,
    overdue: Overdue,
    alive: Vec<AliveTasks>,
}

/// Shows what is held, and lets it go where that is confirmed.
pub async fn run(arguments: &ResumeAfterRestoreArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(arguments.settings.config.as_deref())?;
    let db = database::open(&config)?;
    let done = async {
        let standing = look(&db).await?;
        let by = arguments.settings.by();
        let resumed = arguments.confirm && installation::resume(&db, by).await?;
        Ok::<_, StoreError>((standing, resumed))
    };
    let done = done.await;
    db.close().await;
    let (standing, resumed) = done.map_err(|error| database::failure(&error))?;
    match format {
        Format::Json => output::line(&document(&standing, resumed).to_string()),
        Format::Table => output::text(&page(&standing, resumed)),
    }
}

async fn look(db: &AdminDb) -> Result<Standing, StoreError> {
    let held = installation::held_for_operator(db).await?;
    let overdue = installation::overdue(db, SHOWN).await?;
    Ok(Standing { held, overdue, alive: installation::alive(db).await? })
}

fn document(standing: &Standing, resumed: bool) -> Value {
    let schedule = |one: &installation::OverdueSchedule| json!({"tenant": one.tenant, "name": one.name, "due_at": one.due_at, "misfire": misfire(&one.misfire)});
    let tasks = |of: &AliveTasks| json!({"state": of.state, "at_most_once": of.at_most_once, "count": of.tasks});
    json!({"held_because": standing.held, "resumed": resumed, "overdue": standing.overdue.total,
        "schedules": standing.overdue.first.iter().map(schedule).collect::<Vec<_>>(),
        "tasks": standing.alive.iter().map(tasks).collect::<Vec<_>>()})
}

fn misfire(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

fn page(standing: &Standing, resumed: bool) -> String {
    let Some(held) = &standing.held else {
        return "Schedules are not held.\n".to_owned();
    };
    let mut page = format!("Held: {held}.\n\n");
    if standing.overdue.total == 0 {
        page.push_str("No schedule is overdue.\n");
    } else {
        let mut table = Table::new(["TENANT", "SCHEDULE", "DUE SINCE", "MISFIRE"]);
        for one in &standing.overdue.first {
            let misfire = match misfire(&one.misfire) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            table.row([one.tenant.clone(), one.name.clone(), one.due_at.to_rfc3339(), misfire]);
        }
        page.push_str(&table.take());
        let (shown, total) = (standing.overdue.first.len() as u64, standing.overdue.total);
        if shown < total {
            page.push_str(&format!("... and {} more\n", total - shown));
        }
        page.push_str(&format!(
            "\n{total} schedules have overdue times. On resume, the misfire policy of each applies.\n"
        ));
    }
    if !standing.alive.is_empty() {
        let mut table = Table::new(["TASKS", "STATE", "AT MOST ONCE"]);
        for of in &standing.alive {
            let once = if of.at_most_once { "yes" } else { "no" };
            table.row([of.tasks.to_string(), of.state.clone(), once.to_owned()]);
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
    use store::installation::OverdueSchedule;

    #[test]
    fn what_would_fire_is_shown_before_anything_does() {
        let due_at = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        let one = OverdueSchedule {
            tenant: "acme".to_owned(),
            name: "report".to_owned(),
            due_at,
            misfire: "\"skip\"".to_owned(),
        };
        let alive = AliveTasks { state: "ready".to_owned(), at_most_once: true, tasks: 3 };
        let mut standing = Standing {
            held: Some("restored".to_owned()),
            overdue: Overdue { total: 7, first: vec![one] },
            alive: vec![alive],
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
        assert!(page(&standing, true).contains("Schedules fire again."));
        standing.held = None;
        assert!(page(&standing, false).contains("Schedules are not held"));
    }
}
