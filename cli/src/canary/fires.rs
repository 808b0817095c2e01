//! The canary's schedule: whether each minute was fired, and its task ended.

use super::ledger::Ledger;
use super::round::{course_of, fault_of, is_own, task};
use crate::customer::failure;
use crate::failure::Failure;
use chrono::{DurationRound, TimeDelta};
use client::{Client, Fire, PageRequest};
use domain::canary::{Course, END_LIMIT_S};
use domain::time::Timestamp;
use runtime::clock;
use serde_json::json;

/// Its name.
const SCHEDULE: &str = "canary";
/// The newest fires that are looked at: of over three hours.
const NEWEST: u32 = 200;

/// Which fires have been judged.
#[derive(Debug)]
pub(super) struct Fires {
    /// The first due time that has not.
    next: Timestamp,
}

impl Fires {
    /// Stores the schedule, and judges what is due from now on.
    pub(super) async fn begin(client: &Client) -> Result<Self, Failure> {
        let schedule = json!({"timing": {"specs": [{"cron": "* * * * *"}]}, "task": task("canary-fire"), "overlap": "allow", "paused": false});
        let put = client.put_schedule_json(SCHEDULE, schedule.to_string(), None).await;
        put.map_err(|error| failure(&error))?;
        let minute = TimeDelta::minutes(1);
        let now = clock::wall();
        let next = now.duration_trunc(minute).unwrap_or(now) + minute;
        // The schedule may have been stored after the minute began by the clock of the database.
        Ok(Self { next: next + minute })
    }

    /// Judges the due times whose tasks must have ended. Sentences of what was wrong.
    ///
    /// Fails only where the canary itself is wrong.
    pub(super) async fn look(
        &mut self,
        client: &Client,
        ledger: &mut Ledger,
    ) -> Result<Vec<String>, Failure> {
        let mut faults = Vec::new();
        let settled = clock::wall() - TimeDelta::seconds(i64::from(END_LIMIT_S) + 5);
        if self.next > settled {
            return Ok(faults);
        }
        let asked = PageRequest { limit: Some(NEWEST), ..PageRequest::default() };
        let page = match client.schedule_fires(SCHEDULE, &[], &asked).await {
            Ok(page) => page,
            Err(error) if is_own(&error) => return Err(failure(&error)),
            // Without an answer they are judged later.
            Err(_) => return Ok(faults),
        };
        let oldest = page.data.last().map(|fire| fire.due_at);
        while self.next <= settled {
            let due = self.next;
            let fire = page.data.iter().find(|fire| fire.due_at == due);
            let course = match fire {
                Some(fire) => match course(client, fire).await {
                    Ok(course) => course,
                    Err(()) => return Ok(faults),
                },
                // Too long ago to be known.
                None if page.next(&asked).is_some()
                    && oldest.is_some_and(|oldest| due < oldest) =>
                {
                    self.next += TimeDelta::minutes(1);
                    continue;
                }
                None => None,
            };
            ledger.count(due, |seen| _ = seen.add_due(course.as_ref()));
            if let Some(fault) = fault_of(course.as_ref()) {
                let what = fire.map_or("not fired", |_| "fired");
                let due = due.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
                faults.push(format!("The schedule's {due} was {what}; its task {fault}."));
            }
            self.next += TimeDelta::minutes(1);
        }
        Ok(faults)
    }
}

/// What became of the task of a fire. `Err`: no answer.
async fn course(client: &Client, fire: &Fire) -> Result<Option<Course>, ()> {
    let Some(id) = fire.task else { return Ok(None) };
    match client.get(id).await {
        Ok(task) => Ok(course_of(&task, fire.due_at)),
        Err(error) if error.api().is_some_and(|problem| problem.status == 404) => Ok(None),
        Err(_) => Err(()),
    }
}
