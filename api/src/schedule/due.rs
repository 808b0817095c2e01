//! Due times to come, in the zone's own time, with what its clocks have to do with them.

use crate::problem::{Code, Problem};
use api_types::{DueMark, Extensible, ScheduleDue, SchedulePreview};
use domain::schedule::{DueTime, Marks, Previewed, tzdb_release};
use jiff::tz::TimeZone;

/// Shows the first `count` of `due`; one that is beyond says that there are more.
///
/// # Errors
/// `internal` where the zone, which the timing was reckoned in, is not known.
pub fn previewed(zone: &str, found: Previewed, count: usize) -> Result<SchedulePreview, Problem> {
    let Previewed { mut due, is_cut } = found;
    let clocks = TimeZone::get(zone)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.advice()).caused_by(&error))?;
    let more = due.len() > count || is_cut;
    due.truncate(count);
    let due = due.iter().map(|due| shown(*due, &clocks)).collect();
    Ok(SchedulePreview { zone: zone.to_owned(), tzdb: tzdb_release().to_owned(), due, more })
}

fn shown(due: DueTime, clocks: &TimeZone) -> ScheduleDue {
    let Marks { shifted, repeated, again, change_day } = due.marks;
    let marks = [
        (DueMark::Shifted, shifted),
        (DueMark::Repeated, repeated),
        (DueMark::Again, again),
        (DueMark::ChangeDay, change_day),
    ];
    let marks = marks.into_iter().filter(|(_, holds)| *holds);
    let instant = jiff::Timestamp::from_microsecond(due.at.timestamp_micros());
    let local = instant.unwrap_or_default().to_zoned(clocks.clone());
    ScheduleDue {
        at: due.at,
        local: local.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string(),
        abbreviation: local.strftime("%Z").to_string(),
        marks: marks.map(|(mark, _)| Extensible::Known(mark)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_due_time_is_shown_in_the_zones_time_with_its_marks() {
        let due = |at: &str, marks| DueTime { at: at.parse().unwrap(), marks };
        let gap = Marks { shifted: true, change_day: true, ..Marks::default() };
        let all = vec![
            due("2027-03-13T07:30:00Z", Marks::default()),
            due("2027-03-14T07:00:00Z", gap),
            due("2027-03-15T06:30:00Z", Marks::default()),
        ];
        let found = |due| Previewed { due, is_cut: false };
        let shown = previewed("America/New_York", found(all), 2).unwrap();
        let shown = serde_json::to_value(shown).unwrap();
        assert_eq!((&shown["more"], shown["due"].as_array().unwrap().len()), (&true.into(), 2));
        assert_eq!(shown["due"][0]["local"], "2027-03-13T02:30:00-05:00");
        assert_eq!(shown["due"][1]["local"], "2027-03-14T03:00:00-04:00");
        assert_eq!(shown["due"][1]["abbreviation"], "EDT");
        assert_eq!(shown["due"][1]["marks"], serde_json::json!(["shifted", "change_day"]));
        assert!(previewed("UTC", found(Vec::new()), 10).unwrap().due.is_empty());
    }
}
