//! `berth doctor`: checks the invariants of an installation, and says what to do about each failure.
//!
//! It reads the database as `berth_scheduler`, whose policies show the rows of all tenants, in one read-only transaction, and
//! asks the broker for its queues. It is safe under load and takes up to 30 s.

use crate::admin::database;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table};
use crate::rebuild_usage::{self, RebuildUsageArguments};
use crate::role::OwnBus;
use crate::settings_arguments::SettingsArguments;
use bus::QueueReport;
use domain::id::PoolName;
use runtime::clock;
use runtime::config::{self, BusConfig, BusKind};
use serde_json::{Value, json};
use std::time::Duration;
use store::StoreError;
use store::doctor::{Check, CheckOutcome, CheckResult, DoctorDb, DoctorOptions, pools, run_checks};

/// Time limit of the connection to the broker, and of its answer.
const BROKER: Duration = Duration::from_secs(10);

/// A check could not be run, and none failed. The code for settings, which are mostly the cause.
const NOT_CHECKED: Exit = Exit::Usage;

/// The checks, or what makes one right.
#[derive(Debug, clap::Args)]
pub struct DoctorArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(subcommand)]
    command: Option<DoctorCommand>,
}

/// What makes right what a check found.
#[derive(Debug, clap::Subcommand)]
enum DoctorCommand {
    /// Compute the roll-up of usage again from the attempts that are kept, and print what differed.
    RebuildUsage(RebuildUsageArguments),
}

/// Runs all checks, or the command.
pub async fn run(arguments: &DoctorArguments, format: Format) -> Result<(), Failure> {
    match &arguments.command {
        None => checks(&arguments.settings, format).await,
        Some(DoctorCommand::RebuildUsage(what)) => rebuild_usage::run(what, format).await,
    }
}

/// Runs all checks and prints the results. Fails when a check failed or could not be run.
async fn checks(settings: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let failed = |error: StoreError| {
        let failure = database::failure(&error);
        Failure::new(NOT_CHECKED, failure.to_string())
    };
    let db = DoctorDb::connect(&config.database).map_err(failed)?;
    let checked = async {
        let results = run_checks(&db, &DoctorOptions::interactive(&config.limits)).await?;
        Ok::<_, StoreError>((results, pools(&db).await?))
    };
    let checked = checked.await;
    db.close().await;
    let (mut results, pools) = checked.map_err(failed)?;
    let outcome = queues(&config.bus, &pools).await?;
    results.push(CheckResult { check: Check::QueueArguments, outcome });
    match format {
        Format::Json => output::line(&document(&results).to_string())?,
        Format::Table => output::text(&page(&results))?,
    }
    verdict(&results)
}

/// The check of the queues; not applicable without a broker.
async fn queues(config: &BusConfig, pools: &[PoolName]) -> Result<CheckOutcome, Failure> {
    if config.kind == BusKind::InProcess {
        return Ok(CheckOutcome::NotApplicable(
            "bus.kind is \"in_process\": there is no broker".to_owned(),
        ));
    }
    let own = OwnBus::connect(config)?;
    let asked = async {
        if !own.bus.wait_connected(BROKER).await {
            return QueueReport::Unreachable(
                "the broker at bus.url (BERTH_BUS__URL) does not answer".to_owned(),
            );
        }
        let late = |_| QueueReport::Unreachable("the broker did not answer in time".to_owned());
        clock::timeout(BROKER, own.bus.queues(pools)).await.unwrap_or_else(late)
    };
    let seen = asked.await;
    own.close().await;
    Ok(match seen {
        QueueReport::NoBroker => CheckOutcome::NotApplicable("there is no broker".to_owned()),
        QueueReport::Unreachable(why) => CheckOutcome::NotChecked(why),
        QueueReport::Checked(faults) => match faults.first() {
            None => CheckOutcome::Passed,
            Some(first) => {
                CheckOutcome::Failed { count: faults.len() as u64, example: first.to_string() }
            }
        },
    })
}

/// A table of the results, and below it what to do about each failure.
fn page(results: &[CheckResult]) -> String {
    let mut table = Table::new(["CHECK", "FOUND", "SUCH AS"]);
    for CheckResult { check, outcome } in results {
        let (found, example) = match outcome {
            CheckOutcome::Passed => ("ok".to_owned(), String::new()),
            CheckOutcome::Failed { count, example } => (count.to_string(), example.clone()),
            CheckOutcome::NotApplicable(why) => ("skipped".to_owned(), why.clone()),
            CheckOutcome::NotChecked(why) => ("not checked".to_owned(), why.clone()),
        };
        table.row([check.to_string(), found, example]);
    }
    let mut page = table.take();
    for CheckResult { check, outcome } in results {
        if let CheckOutcome::Failed { count, example } = outcome {
            let what_to_do = check.what_to_do();
            page.push_str(&format!("\n{check}: {count}, such as {example}\n  {what_to_do}\n"));
        }
    }
    page
}

fn document(results: &[CheckResult]) -> Value {
    let one = |CheckResult { check, outcome }: &CheckResult| match outcome {
        CheckOutcome::Passed => json!({"check": check.as_str(), "seen": "ok"}),
        CheckOutcome::Failed { count, example } => {
            json!({"check": check.as_str(), "seen": "found", "count": count, "example": example,
                "what_to_do": check.what_to_do()})
        }
        CheckOutcome::NotApplicable(why) => {
            json!({"check": check.as_str(), "seen": "skipped", "why": why})
        }
        CheckOutcome::NotChecked(why) => {
            json!({"check": check.as_str(), "seen": "not_seen", "why": why})
        }
    };
    json!({"healthy": verdict(results).is_ok(), "checks": results.iter().map(one).collect::<Vec<_>>()})
}

fn verdict(results: &[CheckResult]) -> Result<(), Failure> {
    let count =
        |of: fn(&CheckOutcome) -> bool| results.iter().filter(|result| of(&result.outcome)).count();
    let failed = count(|outcome| matches!(outcome, CheckOutcome::Failed { .. }));
    let not_checked = count(|outcome| matches!(outcome, CheckOutcome::NotChecked(_)));
    match (failed, not_checked) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::new(
            NOT_CHECKED,
            format!("{not_checked} checks could not be run; the others passed"),
        )),
        _ => Err(Failure::failed(format!("{failed} of {} checks failed", results.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(outcomes: Vec<CheckOutcome>) -> Vec<CheckResult> {
        let checks = Check::ALL.iter().copied();
        checks.zip(outcomes).map(|(check, outcome)| CheckResult { check, outcome }).collect()
    }

    #[test]
    fn findings_go_before_what_could_not_be_seen_and_what_is_not_here_is_healthy() {
        let found = CheckOutcome::Failed { count: 2, example: "task_x".to_owned() };
        let not_seen = CheckOutcome::NotChecked("it took too long".to_owned());
        let exit = |seen| verdict(&results(seen)).map_err(|failure| failure.exit());
        assert_eq!(
            exit(vec![CheckOutcome::Passed, CheckOutcome::NotApplicable("x".to_owned())]),
            Ok(())
        );
        assert_eq!(exit(vec![CheckOutcome::Passed, not_seen.clone()]), Err(Exit::Usage));
        assert_eq!(exit(vec![found, not_seen]), Err(Exit::Failed));
    }

    #[test]
    fn a_finding_is_shown_with_an_example_and_what_to_do() {
        let all = results(vec![
            CheckOutcome::Failed { count: 2, example: "task_x".to_owned() },
            CheckOutcome::Passed,
        ]);
        let page = page(&all);
        assert!(
            page.contains("scheduled_overdue  2      task_x\nqueued_stale       ok\n"),
            "{page}"
        );
        assert!(page.ends_with(&format!("  {}\n", Check::ScheduledOverdue.what_to_do())), "{page}");
        let document = document(&all);
        assert_eq!(
            (&document["healthy"], &document["checks"][0]["count"]),
            (&json!(false), &json!(2))
        );
        assert_eq!(document["checks"][1], json!({"check": "queued_stale", "seen": "ok"}));
    }
}
