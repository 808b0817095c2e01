//! From a line of the costs to what it is made of: links to the tasks and runs, for those who may see them.
//!
//! The lists filter by when a task was submitted or a run was started, the costs are by when an attempt ended: the page says so.

use chrono::NaiveDate;
use url::form_urlencoded::Serializer;

/// What costs are grouped by, and the days of which.
pub(super) struct Drill<'a> {
    pub by: &'a str,
    pub label: &'a str,
    pub from: NaiveDate,
    pub to: NaiveDate,
}

impl Drill<'_> {
    /// The tasks or runs of a group.
    pub(super) fn group(&self, group: &str) -> String {
        let mut query = Serializer::new(String::new());
        let list = if self.by == "workflow" { "/workflows/runs" } else { "/tasks" };
        match self.by {
            "workflow" => query.append_pair("workflow", group),
            "schedule" => query.append_pair("schedule", group),
            "label" => query.append_pair("label", &format!("{}={group}", self.label)),
            _ => query.append_pair("tier", group),
        };
        self.days(&mut query, self.from, self.to);
        format!("{list}?{}", query.finish())
    }

    /// The tasks of a day.
    pub(super) fn day(&self, day: NaiveDate) -> String {
        let mut query = Serializer::new(String::new());
        self.days(&mut query, day, day);
        format!("/tasks?{}", query.finish())
    }

    /// The costs of a day.
    pub(super) fn costs(&self, day: NaiveDate) -> String {
        let day = day.to_string();
        let mut query = Serializer::new(String::new());
        query.append_pair("from", &day).append_pair("to", &day).append_pair("by", self.by);
        if !self.label.is_empty() {
            query.append_pair("label", self.label);
        }
        format!("/costs?{}", query.finish())
    }

    fn days(&self, query: &mut Serializer<'_, String>, from: NaiveDate, to: NaiveDate) {
        query.append_pair("created_from", &from.to_string());
        query.append_pair("created_before", &to.succ_opt().unwrap_or(to).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_leads_to_its_tasks_of_the_days_shown() {
        let day = |day| NaiveDate::from_ymd_opt(2030, 1, day).unwrap();
        let drill = |by, label| Drill { by, label, from: day(1), to: day(31) };
        let days = "created_from=2030-01-01&created_before=2030-02-01";
        assert_eq!(drill("tier", "").group("basic"), format!("/tasks?tier=basic&{days}"));
        assert_eq!(
            drill("label", "team").group("a&b"),
            format!("/tasks?label=team%3Da%26b&{days}")
        );
        assert_eq!(drill("workflow", "").group("w"), format!("/workflows/runs?workflow=w&{days}"));
        assert_eq!(
            drill("label", "team").costs(day(3)),
            "/costs?from=2030-01-03&to=2030-01-03&by=label&label=team"
        );
        assert_eq!(
            drill("tier", "").day(day(31)),
            "/tasks?created_from=2030-01-31&created_before=2030-02-01"
        );
    }
}
