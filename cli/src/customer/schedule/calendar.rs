//! Days on which a schedule fires, as a small calendar: `[14]` fires, `<14>` fires and the clocks change.
//!
//! Pure: days in, lines out. Two months stand side by side, so that it fits into 80 columns; months without a fire are left out.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};
use std::collections::BTreeMap;

/// Most months that are drawn.
const MOST_MONTHS: usize = 12;
/// Months side by side.
const ABREAST: usize = 2;
/// Width of a day.
const DAY: usize = 4;
/// Between two months.
const GAP: &str = "    ";
/// What stands over the days. Weeks begin on Monday (ISO 8601).
const HEAD: &str = " Mo  Tu  We  Th  Fr  Sa  Su ";

/// Draws the months of `days`; of each day it is said whether the clocks change on it.
pub fn calendar(days: &BTreeMap<NaiveDate, bool>) -> String {
    let mut months: Vec<NaiveDate> = days.keys().filter_map(|day| day.with_day(1)).collect();
    months.dedup();
    let left = months.len().saturating_sub(MOST_MONTHS);
    months.truncate(MOST_MONTHS);
    let mut text = String::new();
    for row in months.chunks(ABREAST) {
        let blocks: Vec<Vec<String>> = row.iter().map(|first| month(*first, days)).collect();
        let height = blocks.iter().map(Vec::len).max().unwrap_or_default();
        for line in 0..height {
            let blank = || " ".repeat(HEAD.len());
            let parts = blocks.iter().map(|block| block.get(line).cloned().unwrap_or_else(blank));
            text.push_str(parts.collect::<Vec<_>>().join(GAP).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    if left > 0 {
        text.push_str(&format!("… and {left} more months\n\n"));
    }
    text
}

/// The lines of the month that begins with `first`, all of one width.
fn month(first: NaiveDate, days: &BTreeMap<NaiveDate, bool>) -> Vec<String> {
    let name = first.format("%B %Y").to_string();
    let mut lines = vec![format!("{name:^width$}", width = HEAD.len()), HEAD.to_owned()];
    let end = first.checked_add_months(Months::new(1)).unwrap_or(NaiveDate::MAX);
    let before = first.weekday().days_since(Weekday::Mon) as usize;
    let mut line = " ".repeat(before * DAY);
    let mut day = first;
    while day < end {
        line.push_str(&match days.get(&day) {
            None => format!(" {:>2} ", day.day()),
            Some(false) => format!("[{:>2}]", day.day()),
            Some(true) => format!("<{:>2}>", day.day()),
        });
        let Some(next) = day.checked_add_days(Days::new(1)) else { break };
        if day.weekday() == Weekday::Sun || next == end {
            lines.push(format!("{line:<width$}", width = HEAD.len()));
            line.clear();
        }
        day = next;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(of: &[(&str, bool)]) -> BTreeMap<NaiveDate, bool> {
        of.iter().map(|(day, changes)| (day.parse().unwrap(), *changes)).collect()
    }

    #[test]
    fn days_that_fire_and_days_on_which_the_clocks_change_stand_out() {
        let drawn = calendar(&days(&[
            ("2027-02-28", false),
            ("2027-03-13", false),
            ("2027-03-14", true),
            ("2027-03-31", false),
        ]));
        let wanted = [
            "       February 2027                     March 2027",
            " Mo  Tu  We  Th  Fr  Sa  Su      Mo  Tu  We  Th  Fr  Sa  Su",
            "  1   2   3   4   5   6   7       1   2   3   4   5   6   7",
            "  8   9  10  11  12  13  14       8   9  10  11  12 [13]<14>",
            " 15  16  17  18  19  20  21      15  16  17  18  19  20  21",
            " 22  23  24  25  26  27 [28]     22  23  24  25  26  27  28",
            "                                 29  30 [31]",
            "",
            "",
        ];
        assert_eq!(drawn, wanted.join("\n"));
    }

    #[test]
    fn a_month_begins_on_its_own_weekday_and_months_without_a_fire_are_left_out() {
        let drawn = calendar(&days(&[("2028-02-29", false), ("2032-02-29", false)]));
        assert!(drawn.contains("February 2028") && drawn.contains("February 2032"), "{drawn}");
        assert!(!drawn.contains("2030"), "{drawn}");
        let first = drawn.lines().nth(2).unwrap();
        assert!(
            first.starts_with("      1   2   3   4   5   6 "),
            "1 February 2028 is a Tuesday: {first}"
        );
        assert!(drawn.contains(" 28 [29]"), "{drawn}");
    }

    #[test]
    fn a_long_calendar_is_cut_and_an_empty_one_is_nothing() {
        let first: NaiveDate = "2030-01-15".parse().unwrap();
        let many = (0..20).map(|n| (first + Months::new(n), false)).collect();
        let drawn = calendar(&many);
        assert!(drawn.ends_with("… and 8 more months\n\n"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        assert_eq!(calendar(&BTreeMap::new()), "");
    }
}
