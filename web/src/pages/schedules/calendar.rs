//! A month of due times to come, a cell a day, in the schedule's zone, with the days on which its clocks change.
//!
//! Both come from the API's previews: the due times from that of the schedule, the changes of the clocks from that of noon of each
//! day. So the page knows nothing of time zones itself.

use crate::backend::Method;
use crate::fault::Fault;
use crate::visit::{Visit, in_path};
use api_types::{DueMark, Schedule, ScheduleDue, SchedulePreview};
use chrono::{DateTime, Datelike, Days, FixedOffset, Months, NaiveDate, NaiveTime};
use runtime::clock::wall;
use serde_json::json;
use std::collections::BTreeMap;

/// Due times that are counted in a month: as many as a preview gives.
const MOST: usize = 999;
/// Times of a day that a cell shows.
const SHOWN: usize = 3;

/// The month.
pub(super) struct Calendar {
    pub title: String,
    pub zone: String,
    pub weeks: Vec<Vec<Day>>,
    /// Changes of the clocks, in sentences.
    pub changes: Vec<String>,
    /// Due times in it, in words.
    pub total: String,
    pub before: Option<String>,
    pub after: String,
}

/// A cell.
pub(super) struct Day {
    pub date: NaiveDate,
    /// Whether it is of the month.
    pub is_in: bool,
    pub times: Vec<String>,
    /// What is not shown of it.
    pub more: Option<String>,
    /// Whether there may be more that were not counted.
    pub is_uncounted: bool,
    /// By how much the clocks change.
    pub change: Option<String>,
}

impl Calendar {
    /// The month that the URL names, or that of the next due time.
    pub(super) async fn of(
        visit: &Visit,
        schedule: &Schedule,
        next: Option<&ScheduleDue>,
    ) -> Result<Self, String> {
        let now = wall().date_naive();
        let asked = format!("{}-01", visit.query.text("month")).parse::<NaiveDate>().ok();
        let asked = asked.filter(|day| (1970..2200).contains(&day.year()));
        let usual = next.and_then(local).map_or(now, |at| at.date_naive());
        let first = first_of(asked.unwrap_or(usual));
        let path = format!("/schedules/{}", in_path(&schedule.name));
        // Every zone's first day begins after that, and what is past is on the map of outcomes.
        let from = first.checked_sub_days(Days::new(2)).unwrap_or(first).and_time(NaiveTime::MIN);
        let from = from.and_utc().max(wall()).format("%Y-%m-%dT%H:%M:%SZ").to_string();
        let target = format!("/v1{path}/preview?count={MOST}&from={from}");
        let due: SchedulePreview = visit.try_get(target).await?;
        let noon = json!({"timing": {"specs": [{"cron": "0 12 * * *"}], "zone": due.zone}, "count": 36, "from": from});
        let noons: Result<SchedulePreview, Fault> =
            visit.send(Method::Post, "/v1/schedules/preview", &noon).await;
        let noons = noons.map(|noons| noons.due).unwrap_or_default();
        let mut calendar = Self::made(first, &due, &noons);
        let to = |month: NaiveDate| format!("{path}?month={}#calendar", month.format("%Y-%m"));
        let before = first.checked_sub_months(Months::new(1));
        calendar.before = before.filter(|month| *month >= first_of(now)).map(to);
        calendar.after = first.checked_add_months(Months::new(1)).map(to).unwrap_or_default();
        Ok(calendar)
    }

    fn made(first: NaiveDate, due: &SchedulePreview, noons: &[ScheduleDue]) -> Self {
        let next = first.checked_add_months(Months::new(1)).unwrap_or(first);
        let mut days = BTreeMap::<NaiveDate, Vec<String>>::new();
        let locals: Vec<DateTime<FixedOffset>> = due.due.iter().filter_map(local).collect();
        for at in locals.iter().filter(|at| (first..next).contains(&at.date_naive())) {
            days.entry(at.date_naive()).or_default().push(clock(*at));
        }
        // From here on they are not counted.
        let end = locals.last().filter(|_| due.more).map(chrono::DateTime::date_naive);
        let end = end.filter(|end| *end < next);
        let changes = changes(noons);
        let weekday = u64::from(first.weekday().num_days_from_monday());
        let start = first.checked_sub_days(Days::new(weekday)).unwrap_or(first);
        let cells = start
            .iter_days()
            .take_while(|day| *day < next || day.weekday() != chrono::Weekday::Mon);
        let cells: Vec<Day> = cells
            .map(|date| Day::of(date, (first..next).contains(&date), &days, (end, &changes)))
            .collect();
        let mut weeks = Vec::new();
        let mut left = cells.into_iter().peekable();
        while left.peek().is_some() {
            weeks.push(left.by_ref().take(7).collect());
        }
        let count: usize = days.values().map(Vec::len).sum();
        let total = match (end, count) {
            (Some(end), _) => {
                format!("At least {count} due times: they are counted until {end} and no further.")
            }
            (None, 0) => "No due time to come in this month.".to_owned(),
            (None, 1) => "1 due time to come in this month.".to_owned(),
            (None, count) => format!("{count} due times to come in this month."),
        };
        let of_month = changes.iter().filter(|(day, _)| (first..next).contains(day));
        Self {
            title: first.format("%B %Y").to_string(),
            zone: due.zone.clone(),
            weeks,
            changes: of_month.map(|(day, change)| change.sentence(*day)).collect(),
            total,
            before: None,
            after: String::new(),
        }
    }
}

impl Day {
    fn of(
        date: NaiveDate,
        is_in: bool,
        days: &BTreeMap<NaiveDate, Vec<String>>,
        (end, changes): (Option<NaiveDate>, &BTreeMap<NaiveDate, Change>),
    ) -> Self {
        let all = days.get(&date).map_or(&[][..], Vec::as_slice);
        let is_uncounted = is_in && end.is_some_and(|end| date >= end);
        let more = all.len().checked_sub(SHOWN).filter(|more| *more > 0);
        let more = more.map(|more| format!("+{more} more"));
        let change = changes.get(&date).filter(|_| is_in).map(Change::short);
        Self {
            date,
            is_in,
            times: all.iter().take(SHOWN).cloned().collect(),
            more,
            is_uncounted,
            change,
        }
    }
}

/// A change of the clocks: the offsets before and after, seconds, where both are known.
struct Change(Option<(FixedOffset, FixedOffset)>);

impl Change {
    fn short(&self) -> String {
        let Some((before, after)) = self.0 else { return "clocks change".to_owned() };
        let minutes = (after.local_minus_utc() - before.local_minus_utc()) / 60;
        let sign = if minutes < 0 { '\u{2212}' } else { '+' };
        match (minutes.abs() / 60, minutes.abs() % 60) {
            (hours, 0) => format!("clocks {sign}{hours} h"),
            (0, minutes) => format!("clocks {sign}{minutes} min"),
            (hours, minutes) => format!("clocks {sign}{hours} h {minutes} min"),
        }
    }

    fn sentence(&self, day: NaiveDate) -> String {
        self.0.map_or_else(
            || format!("On {day} the clocks change."),
            |(before, after)| format!("On {day} the clocks go from UTC{before} to UTC{after}."),
        )
    }
}

/// Days with a change, by what noon is on each day.
fn changes(noons: &[ScheduleDue]) -> BTreeMap<NaiveDate, Change> {
    let mut found = BTreeMap::new();
    let mut before: Option<DateTime<FixedOffset>> = None;
    for noon in noons {
        let Some(at) = local(noon) else { continue };
        if noon.marks.iter().any(|mark| *mark == DueMark::ChangeDay) {
            let day_before =
                before.filter(|before| before.date_naive().succ_opt() == Some(at.date_naive()));
            let both = day_before.map(|before| (*before.offset(), *at.offset()));
            found.insert(at.date_naive(), Change(both.filter(|(before, after)| before != after)));
        }
        before = Some(at);
    }
    found
}

fn local(due: &ScheduleDue) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(&due.local).ok()
}

fn clock(at: DateTime<FixedOffset>) -> String {
    let text = at.format("%H:%M:%S").to_string();
    text.strip_suffix(":00").unwrap_or(&text).to_owned()
}

fn first_of(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(locals: &[(&str, &[&str])]) -> Vec<ScheduleDue> {
        let one = |(local, marks): &(&str, &[&str])| {
            let at = DateTime::parse_from_rfc3339(local).unwrap().to_utc();
            let json = json!({"at": at, "local": local, "abbreviation": "X", "marks": marks});
            serde_json::from_value(json).unwrap()
        };
        locals.iter().map(one).collect()
    }

    fn month(due: Vec<ScheduleDue>, more: bool, noons: &[ScheduleDue]) -> Calendar {
        let preview =
            SchedulePreview { zone: "Europe/Berlin".to_owned(), tzdb: String::new(), due, more };
        Calendar::made(NaiveDate::from_ymd_opt(2027, 3, 1).unwrap(), &preview, noons)
    }

    fn day(calendar: &Calendar, of_month: u32) -> &Day {
        calendar.weeks.iter().flatten().find(|day| day.is_in && day.date.day() == of_month).unwrap()
    }

    #[test]
    fn a_month_is_whole_weeks_with_the_times_of_each_day_in_the_zone() {
        let all = due(&[
            ("2027-02-28T23:59:00+01:00", &[]),
            ("2027-03-01T00:30:00+01:00", &[]),
            ("2027-03-28T03:00:00+02:00", &["shifted", "change_day"]),
            ("2027-03-28T03:00:10+02:00", &[]),
            ("2027-03-28T04:00:00+02:00", &[]),
            ("2027-03-28T05:00:00+02:00", &[]),
            ("2027-04-01T00:00:00+02:00", &[]),
        ]);
        let noons = due(&[
            ("2027-03-27T12:00:00+01:00", &[]),
            ("2027-03-28T12:00:00+02:00", &["change_day"]),
        ]);
        let calendar = month(all, false, &noons);
        assert_eq!((calendar.weeks.len(), calendar.title.as_str()), (5, "March 2027"));
        assert!(calendar.weeks.iter().all(|week| week.len() == 7));
        assert_eq!(calendar.weeks[0][0].date, NaiveDate::from_ymd_opt(2027, 3, 1).unwrap());
        assert_eq!(
            (day(&calendar, 1).times.as_slice(), &day(&calendar, 1).more),
            (&["00:30".to_owned()][..], &None)
        );
        let change = day(&calendar, 28);
        assert_eq!(change.times, ["03:00", "03:00:10", "04:00"]);
        assert_eq!(
            (change.more.as_deref(), change.change.as_deref()),
            (Some("+1 more"), Some("clocks +1 h"))
        );
        assert_eq!(calendar.changes, ["On 2027-03-28 the clocks go from UTC+01:00 to UTC+02:00."]);
        assert_eq!(calendar.total, "5 due times to come in this month.");
        assert!(day(&calendar, 27).change.is_none());
    }

    #[test]
    fn days_whose_times_are_not_all_known_say_so() {
        let calendar = month(due(&[("2027-03-02T00:00:00+01:00", &[])]), true, &[]);
        assert!(day(&calendar, 1).more.is_none());
        assert!(day(&calendar, 2).is_uncounted && !day(&calendar, 1).is_uncounted);
        assert!(calendar.total.starts_with("At least 1 due times"), "{}", calendar.total);
    }
}
