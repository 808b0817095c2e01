//! `GET /v1/events`.

use crate::send::Call;
use crate::{Client, ClientError, Cursor, Event};

/// Which events. What is left out means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Types, each one such as `berth.task.failed`, or the beginning of types such as `berth.task.*`.
    pub types: Vec<String>,
    /// Of tasks of exactly this name.
    pub name: Option<String>,
    /// Of this task.
    pub task: Option<String>,
    /// Of this schedule, by name or id, and of its tasks.
    pub schedule: Option<String>,
    /// Of tasks of this workflow run.
    pub workflow_run: Option<String>,
    /// Without a cursor: begin now, and not with the oldest.
    pub from_now: bool,
    /// Events that are looked at, 1 to 1000; the server's default is 100.
    pub limit: Option<u32>,
}

/// A page of events.
#[derive(Debug, Clone)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Where to go on, also where there was nothing. Keep it when the events are handled: then none is left out.
    pub next: Cursor,
}

impl Client {
    /// The events behind a cursor. Events of tasks are recorded from the first call on, and for 25 hours after the last.
    ///
    /// # Errors
    /// 400 for a wrong parameter, or a cursor of another cluster; 404 for an unknown schedule; no response.
    pub async fn events(
        &self,
        query: &EventQuery,
        after: Option<&Cursor>,
    ) -> Result<EventPage, ClientError> {
        let types = (!query.types.is_empty()).then(|| query.types.join(","));
        let from = (query.from_now && after.is_none()).then(|| "now".to_owned());
        let parameters = [
            ("type", types),
            ("name", query.name.clone()),
            ("task", query.task.clone()),
            ("schedule", query.schedule.clone()),
            ("workflow_run", query.workflow_run.clone()),
            ("from", from),
            ("limit", query.limit.map(|limit| limit.to_string())),
            ("cursor", after.map(|cursor| cursor.as_str().to_owned())),
        ];
        let (lines, next) = self.fetch_page(Call::get("v1/events").query(parameters)).await?;
        let next = next.ok_or_else(|| self.not_the_api("the response has no Next-Cursor"))?;
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let events: Result<Vec<Event>, _> = lines.map(serde_json::from_slice).collect();
        let events = events.map_err(|_| self.not_the_api("a line of the response is no event"))?;
        Ok(EventPage { events, next })
    }
}
