//! The live part of the overview.

use super::attention::{Matter, of_limits};
use super::failures::{Group, groups};
use crate::fault::Fault;
use crate::pages::tasks::view::TaskRow;
use crate::visit::Visit;
use crate::words::count;
use api_types::{Limits, Page, Task};
use askama::Template;
use chrono::{SecondsFormat, TimeDelta};
use domain::access::Permission;
use domain::plan::Quota;
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
    /// Where who asks may see more.
    href: Option<&'static str>,
}

/// Reads it.
pub(crate) async fn read(visit: &Visit) -> Result<Now, Fault> {
    let now = wall();
    let day = (now - TimeDelta::days(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let failed = format!("/v1/tasks?state={FAILED}&created_from={day}&limit={LATEST}");
    let (limits, running, failed) = futures::join!(
        some::<Limits>(visit, Permission::ReadUsage, "/v1/limits".to_owned()),
        some::<Page<Task>>(
            visit,
            Permission::ReadTasks,
            "/v1/tasks?state=running,cancelling,retrying&limit=8".to_owned()
        ),
        some::<Page<Task>>(visit, Permission::ReadTasks, failed),
    );
    let mut missing = Vec::new();
    let (limits, running, failed) =
        (kept(limits, &mut missing), kept(running, &mut missing), kept(failed, &mut missing));
    let none = Page::last(Vec::new());
    let (running, failed) = (running.unwrap_or_else(|| none.clone()), failed.unwrap_or(none));
    let reads = visit.may(Permission::ReadTasks);
    let figures = figures(limits.as_ref(), reads.then_some(&failed));
    let is_new = limits.as_ref().is_some_and(|limits| held(limits, Quota::Backlog) == Some(0))
        && running.data.is_empty()
        && failed.data.is_empty();
    Ok(Now {
        figures,
        matters: limits.map(|limits| of_limits(&limits, now)).unwrap_or_default(),
        running: running.data.iter().map(|task| TaskRow::of(task, now)).collect(),
        failures: groups(&failed.data, now).into_iter().take(6).collect(),
        missing,
        is_new,
        reads,
    })
}

/// What the API gives, where the one who asks may have it.
async fn some<T: serde::de::DeserializeOwned>(
    visit: &Visit,
    permission: Permission,
    target: String,
) -> Option<Result<T, String>> {
    if visit.may(permission) { Some(visit.try_get(target).await) } else { None }
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

fn held(limits: &Limits, quota: Quota) -> Option<u64> {
    limits.quotas.iter().find(|use_of| use_of.name == quota).map(|use_of| use_of.used)
}

/// `failed`: what failed, for those who may see tasks.
fn figures(limits: Option<&Limits>, failed: Option<&Page<Task>>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let amount = |amount: u64| count(i64::try_from(amount).unwrap_or(i64::MAX));
    if let Some(limits) = limits {
        let of = |quota: Quota| limits.quotas.iter().find(|use_of| use_of.name == quota);
        for (quota, label, href) in [
            (Quota::RunningTasks, "Running", "/tasks?state=running%2Ccancelling"),
            (Quota::Backlog, "Not finished", "/tasks?state=scheduled%2Cready%2Cqueued%2Cretrying"),
            (Quota::Schedules, "Schedules", "/schedules"),
            (Quota::WorkflowRuns, "Workflow runs", "/workflows/runs"),
        ] {
            if let Some(use_of) = of(quota) {
                let more = format!("of at most {}", amount(use_of.limit));
                let href = failed.map(|_| href);
                figures.push(Figure { label, value: amount(use_of.used), more, href });
            }
        }
    }
    let Some(failed) = failed else { return figures };
    let more = if failed.next_cursor.is_some() { "+" } else { "" };
    figures.push(Figure {
        label: "Failed",
        value: format!("{}{more}", failed.data.len()),
        more: "of those submitted in 24 h".to_owned(),
        href: Some("/tasks?state=failed%2Caborted%2Ckilled%2Cexpired"),
    });
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
