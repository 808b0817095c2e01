//! The fields of a cron pattern, and the values that each has.

use std::ops::RangeInclusive;

pub(in super::super) const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
pub(in super::super) const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// What a field counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Second,
    Minute,
    Hour,
    MonthDay,
    Month,
    Weekday,
}

/// A field of a pattern.
#[derive(Debug)]
pub(super) struct Field {
    pub kind: Kind,
    pub name: &'static str,
    /// Its numbers. Sunday is 0 and 7.
    pub values: RangeInclusive<u32>,
    /// The names of its numbers, from the first on.
    pub names: &'static [&'static str],
    may_be: &'static str,
}

/// All of them, in the order of a pattern of 6.
pub(super) const FIELDS: [Field; 6] = [
    Field { kind: Kind::Second, name: "second", values: 0..=59, names: &[], may_be: "0 to 59" },
    Field { kind: Kind::Minute, name: "minute", values: 0..=59, names: &[], may_be: "0 to 59" },
    Field { kind: Kind::Hour, name: "hour", values: 0..=23, names: &[], may_be: "0 to 23" },
    Field {
        kind: Kind::MonthDay,
        name: "day of the month",
        values: 1..=31,
        names: &[],
        may_be: "1 to 31, `L` for the last, `LW` for the last from Monday to Friday, or such as `15W` for the one from Monday to Friday nearest to the 15th",
    },
    Field {
        kind: Kind::Month,
        name: "month",
        values: 1..=12,
        names: &MONTHS,
        may_be: "1 to 12 or JAN to DEC",
    },
    Field {
        kind: Kind::Weekday,
        name: "day of the week",
        values: 0..=7,
        names: &WEEKDAYS,
        may_be: "0 to 7 or SUN to SAT, such as `5L` for the last Friday of a month or `1#2` for its second Monday",
    },
];

impl Field {
    pub fn is_week(&self) -> bool {
        self.kind == Kind::Weekday
    }

    pub fn is_of_days(&self) -> bool {
        matches!(self.kind, Kind::MonthDay | Kind::Weekday)
    }

    /// The number that `text` is or names: at most two digits, without a sign.
    pub fn value(&self, text: &str) -> Option<u32> {
        if let Some(at) = self.names.iter().position(|name| *name == text) {
            return Some(self.values.start() + u32::try_from(at).ok()?);
        }
        let plain = text.len() <= 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse().ok().filter(|value| plain && self.values.contains(value))
    }

    /// The same as the end of a range, where a week ends with Sunday.
    pub fn end(&self, text: &str) -> Option<u32> {
        if self.is_week() && text == "SUN" { Some(7) } else { self.value(text) }
    }

    /// That `item` is nothing that this field may have.
    pub fn none(&self, item: &str) -> String {
        let Self { name, may_be, .. } = self;
        let by_chance = if item.starts_with('H') || item.contains('~') {
            "; to spread fires by chance use `jitter`"
        } else {
            ""
        };
        format!(
            "`{item}` is no {name}: it may be {may_be}, and lists (`1,2`), ranges (`1-5`) and steps (`*/5`, `1-5/2`) of these{by_chance}"
        )
    }
}
