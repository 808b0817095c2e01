//! `berth doctor`: looks whether all that must hold does, and says what to do where it does not.
//!
//! It reads the database as `berth_scheduler`, whose policies show it the rows of all tenants, in one transaction that can write
//! nothing, and asks the broker how its queues are. Safe beside load; it takes up to half a minute.

use crate::admin::database;
use crate::arguments::SettingsArguments;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, Table};
use crate::role::OwnBus;
use bus::QueuesSeen;
use domain::doctor::{Check, Line, Seen};
use domain::id::PoolName;
use runtime::clock;
use runtime::config::{self, BusConfig, BusKind};
use serde_json::{Value, json};
use std::time::Duration;
use store::StoreError;
use store::doctor::{DoctorDb, Look, look, pools};

/// The longest wait for the broker: for a connection, and then for what it says.
const BROKER: Duration = Duration::from_secs(10);

/// Something could not be looked at, and nothing else is wrong. The code for settings: mostly it is these.
const COULD_NOT_LOOK: Exit = Exit::Usage;

/// Looks, and prints what is found. An error where something is, or where not all could be looked at.
pub async fn run(settings: &SettingsArguments, format: Format) -> Result<(), Failure> {
    let config = config::load(settings.config.as_deref())?;
    let failed = |error: StoreError| {
        let failure = database::failure(&error);
        Failure::new(COULD_NOT_LOOK, failure.to_string())
    };
    let db = DoctorDb::connect(&config.database).map_err(failed)?;
    let seen = async {
        let lines = look(&db, &Look::of_a_person(&config.limits)).await?;
        Ok::<_, StoreError>((lines, pools(&db).await?))
    };
    let seen = seen.await;
    db.close().await;
    let (mut lines, pools) = seen.map_err(failed)?;
    let queues = queues(&config.bus, &pools).await?;
    lines.push(Line { check: Check::QueueArguments, seen: queues });
    match format {
        Format::Json => output::line(&document(&lines).to_string())?,
        Format::Table => output::text(&page(&lines))?,
    }
    verdict(&lines)
}

/// How the queues are; none where no broker is between the roles.
async fn queues(config: &BusConfig, pools: &[PoolName]) -> Result<Seen, Failure> {
    if config.kind == BusKind::InProcess {
        return Ok(Seen::NotHere("bus.kind is \"in_process\": there is no broker".to_owned()));
    }
    let own = OwnBus::connect(config)?;
    let asked = async {
        if !own.bus.wait_connected(BROKER).await {
            return QueuesSeen::Unreachable("bus.url (BERTH_BUS__URL) does not answer".to_owned());
        }
        let late = |_| QueuesSeen::Unreachable("the broker did not answer in time".to_owned());
        clock::timeout(BROKER, own.bus.queues(pools)).await.unwrap_or_else(late)
    };
    let seen = asked.await;
    own.close().await;
    Ok(match seen {
        QueuesSeen::NoBroker => Seen::NotHere("there is no broker".to_owned()),
        QueuesSeen::Unreachable(why) => Seen::NotSeen(why),
        QueuesSeen::Checked(faults) => match faults.first() {
            None => Seen::Sound,
            Some(first) => Seen::Found { count: faults.len() as u64, example: first.to_string() },
        },
    })
}

/// A table of all, and below it what to do.
fn page(lines: &[Line]) -> String {
    let mut table = Table::new(["CHECK", "FOUND", "SUCH AS"]);
    for line in lines {
        let (found, example) = match &line.seen {
            Seen::Sound => ("ok".to_owned(), String::new()),
            Seen::Found { count, example } => (count.to_string(), example.clone()),
            Seen::NotHere(why) => ("skipped".to_owned(), why.clone()),
            Seen::NotSeen(why) => ("not seen".to_owned(), why.clone()),
        };
        table.row([line.check.to_string(), found, example]);
    }
    let mut page = table.take();
    for line in lines {
        if let Seen::Found { count, example } = &line.seen {
            let (check, what_to_do) = (line.check, line.check.what_to_do());
            page.push_str(&format!("\n{check}: {count}, such as {example}\n  {what_to_do}\n"));
        }
    }
    page
}

fn document(lines: &[Line]) -> Value {
    let line = |line: &Line| match &line.seen {
        Seen::Sound => json!({"check": line.check.as_str(), "seen": "ok"}),
        Seen::Found { count, example } => {
            json!({"check": line.check.as_str(), "seen": "found", "count": count, "example": example,
                "what_to_do": line.check.what_to_do()})
        }
        Seen::NotHere(why) => json!({"check": line.check.as_str(), "seen": "skipped", "why": why}),
        Seen::NotSeen(why) => json!({"check": line.check.as_str(), "seen": "not_seen", "why": why}),
    };
    json!({"healthy": verdict(lines).is_ok(), "checks": lines.iter().map(line).collect::<Vec<_>>()})
}

fn verdict(lines: &[Line]) -> Result<(), Failure> {
    let count = |of: fn(&Seen) -> bool| lines.iter().filter(|line| of(&line.seen)).count();
    let found = count(|seen| matches!(seen, Seen::Found { .. }));
    let not_seen = count(|seen| matches!(seen, Seen::NotSeen(_)));
    match (found, not_seen) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::new(
            COULD_NOT_LOOK,
            format!("{not_seen} checks could not be looked at; nothing is wrong with the others"),
        )),
        _ => Err(Failure::failed(format!("{found} of {} checks found something", lines.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(seen: Vec<Seen>) -> Vec<Line> {
        Check::ALL.into_iter().zip(seen).map(|(check, seen)| Line { check, seen }).collect()
    }

    #[test]
    fn findings_go_before_what_could_not_be_seen_and_what_is_not_here_is_healthy() {
        let found = Seen::Found { count: 2, example: "task_x".to_owned() };
        let not_seen = Seen::NotSeen("it took too long".to_owned());
        let exit = |seen| verdict(&lines(seen)).map_err(|failure| failure.exit());
        assert_eq!(exit(vec![Seen::Sound, Seen::NotHere("x".to_owned())]), Ok(()));
        assert_eq!(exit(vec![Seen::Sound, not_seen.clone()]), Err(Exit::Usage));
        assert_eq!(exit(vec![found, not_seen]), Err(Exit::Failed));
    }

    #[test]
    fn a_finding_is_shown_with_an_example_and_what_to_do() {
        let all = lines(vec![Seen::Found { count: 2, example: "task_x".to_owned() }, Seen::Sound]);
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
