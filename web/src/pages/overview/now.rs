//! The live part of the overview.

use super::attention::{Matter, of_overview};
use super::failures::{Group, groups};
use crate::fault::Fault;
use crate::pages::tasks::view::TaskRow;
use crate::visit::Visit;
use crate::words::{count, ms, ratio};
use api_types::{Overview, Page, Task};
use askama::Template;
use chrono::{SecondsFormat, TimeDelta};
use domain::access::Permission;
use domain::task::State;
use runtime::clock::wall;

/// States of a task that nobody wanted.
const FAILED: &str = "failed,aborted,killed,expired";
/// Failures that are looked at.
const LATEST: &str = "100";

#[derive(Template)]
#[template(path = "overview_now.html")]
pub(crate) struct Now {
    figures: Vec<Figure>,
    matters: Vec<Matter>,
    running: Vec<TaskRow>,
    failures: Vec<Group>,
    /// What could not be read.
    missing: Vec<String>,
    is_new: bool,
    /// Whether who asks may see tasks.
    reads: bool,
}

struct Figure {
    label: &'static str,
    value: String,
    more: String,
    href: &'static str,
}

/// Reads it.
pub(crate) async fn read(visit: &Visit) -> Result<Now, Fault> {
    let now = wall();
    let day = (now - TimeDelta::days(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let failed = format!("/v1/tasks?state={FAILED}&created_from={day}&limit={LATEST}");
    let running = "/v1/tasks?state=running,cancelling,retrying&limit=8".to_owned();
    let reads = visit.may(Permission::ReadTasks);
    let (overview, running, failed) = futures::join!(
        some::<Overview>(visit, reads, "/v1/overview".to_owned()),
        some::<Page<Task>>(visit, reads, running),
        some::<Page<Task>>(visit, reads, failed),
    );
    let mut missing = Vec::new();
    let (overview, running, failed) =
        (kept(overview, &mut missing), kept(running, &mut missing), kept(failed, &mut missing));
    let none = Page::last(Vec::new());
    let (running, failed) = (running.unwrap_or_else(|| none.clone()), failed.unwrap_or(none));
    Ok(Now {
        figures: overview.as_ref().map(figures).unwrap_or_default(),
        matters: overview.as_ref().map(|overview| of_overview(overview, now)).unwrap_or_default(),
        running: running.data.iter().map(|task| TaskRow::of(task, now)).collect(),
        failures: groups(&failed.data, now).into_iter().take(6).collect(),
        missing,
        is_new: overview.is_some_and(|it| it.live.tasks == 0 && it.recent.tasks == 0),
        reads,
    })
}

/// What the API gives, where the one who asks may have it.
async fn some<T: serde::de::DeserializeOwned>(
    visit: &Visit,
    may: bool,
    target: String,
) -> Option<Result<T, String>> {
    if may { Some(visit.try_get(target).await) } else { None }
}

fn kept<T>(read: Option<Result<T, String>>, missing: &mut Vec<String>) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(why) => {
            if !missing.contains(&why) {
                missing.push(why);
            }
            None
        }
    }
}

/// What is live, by state; how much failed; how soon tasks start.
fn figures(overview: &Overview) -> Vec<Figure> {
    let Overview { live, recent, .. } = overview;
    let amount = |amount: u64| count(i64::try_from(amount).unwrap_or(i64::MAX));
    let in_states = |wanted: &[State]| -> u64 {
        let these = live.states.iter().filter(|one| wanted.iter().any(|state| one.state == *state));
        these.map(|one| one.tasks).sum()
    };
    let more = if live.is_complete { "" } else { "+" };
    let overdue = format!("{} over their start deadline", amount(live.overdue));
    let overdue = if live.overdue > 0 { overdue } else { "none overdue".to_owned() };
    let mut figures: Vec<Figure> = [
        (
            "Running",
            &[State::Running, State::Cancelling][..],
            "now",
            "/tasks?state=running%2Ccancelling",
        ),
        (
            "Waiting",
            &[State::Ready, State::Queued],
            overdue.as_str(),
            "/tasks?state=ready%2Cqueued",
        ),
        ("Scheduled", &[State::Scheduled], "for later", "/tasks?state=scheduled"),
        ("Retrying", &[State::Retrying], "after a failure", "/tasks?state=retrying"),
    ]
    .into_iter()
    .map(|(label, states, note, href)| {
        let value = format!("{}{more}", amount(in_states(states)));
        Figure { label, value, more: note.to_owned(), href }
    })
    .collect();
    figures.push(Figure {
        label: "Failed",
        value: amount(recent.failed),
        more: format!("of the last {} that ended, 24 h", amount(recent.tasks)),
        href: "/tasks?state=failed%2Caborted%2Ckilled%2Cexpired",
    });
    if let Some(wait) = recent.wait {
        figures.push(Figure {
            label: "Started in time",
            value: format!("{} %", ratio(recent.on_time, recent.started)),
            more: format!("of {}, 24 h", amount(recent.started)),
            href: "/tasks?state=succeeded",
        });
        figures.push(Figure {
            label: "Wait, p50",
            value: ms(wait.p50_ms),
            more: format!("p95 {}, p99 {}", ms(wait.p95_ms), ms(wait.p99_ms)),
            href: "/tasks?state=succeeded",
        });
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_once() {
        let mut missing = Vec::new();
        let failed = || Some(Err::<i32, _>("no answer".to_owned()));
        assert_eq!(kept(failed(), &mut missing), None);
        assert_eq!(kept(failed(), &mut missing), None);
        assert_eq!(
            (kept(Some(Ok(1)), &mut missing), kept::<i32>(None, &mut missing)),
            (Some(1), None)
        );
        assert_eq!(missing, ["no answer"]);
    }
}
