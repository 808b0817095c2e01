//! `GET /schedules`: all schedules.

use super::timing::in_words;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing, asked};
use crate::visit::{Visit, in_path};
use crate::words::{Ago, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Schedule};
use domain::access::Permission;
use runtime::clock::wall;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let schedules: Page<Schedule> = visit.get(asked(&visit, "/v1/schedules", &["state"])).await?;
    let now = wall();
    let columns =
        [("Schedule", false), ("State", false), ("Due", true), ("Next", false), ("Fires", true)];
    let empty = (
        "No schedules yet",
        "Make one here, or with: berth schedule put nightly --cron '0 2 * * *' -- ./report",
    );
    let frame = Frame::new(&visit, Section::Schedules, "Schedules");
    let mut list = Listing::new(frame, &columns, empty);
    if visit.may(Permission::SubmitTasks) {
        list.acts = vec![("/schedules/new".to_owned(), "New schedule")];
    }
    let row = |schedule: &Schedule| {
        let href = format!("/schedules/{}", in_path(&schedule.name));
        vec![
            Cell::Link(href, schedule.name.clone()),
            Cell::Mark(mark_of(&schedule.state.to_string())),
            Cell::Text(in_words(&schedule.timing)),
            schedule.next_due_at.map_or(Cell::Nothing, |at| Cell::Ago(Ago { at, now })),
            Cell::Number(crate::words::count(i64::try_from(schedule.fires).unwrap_or(i64::MAX))),
        ]
    };
    list.rows = schedules.data.iter().map(row).collect();
    list.paged(&visit, &["state"], schedules.next_cursor.map(|cursor| cursor.to_string())).show()
}
