//! Months of a tenant's zone.

use crate::time::Timestamp;
use chrono::{Datelike, Months, NaiveDate};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// What is built in, whatever the machine has.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The zone of a tenant's months, by its IANA name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BillingZone {
    name: String,
    zone: TimeZone,
}

/// A text is no zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time zone: give an IANA name, such as Europe/Berlin")]
pub struct ParseZoneError(String);

/// A month that is billed: from where the one before ended to the end of a month of the zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first day of the month.
    pub month: NaiveDate,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When it ends, excluded.
    pub ends_at: Timestamp,
}

impl Default for BillingZone {
    fn default() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }
}

impl fmt::Display for BillingZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for BillingZone {
    type Err = ParseZoneError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let zone = ZONES.get(text).ok().filter(|zone| !zone.is_unknown());
        let name = zone.as_ref().and_then(|zone| zone.iana_name()).map(str::to_owned);
        match (zone, name) {
            (Some(zone), Some(name)) => Ok(Self { name, zone }),
            _ => Err(ParseZoneError(text.chars().take(100).collect())),
        }
    }
}

impl TryFrom<String> for BillingZone {
    type Error = ParseZoneError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<BillingZone> for String {
    fn from(zone: BillingZone) -> Self {
        zone.name
    }
}

/// The month after a month.
fn after(month: NaiveDate) -> NaiveDate {
    month.checked_add_months(Months::new(1)).unwrap_or(NaiveDate::MAX)
}

impl BillingZone {
    /// The first instant of a day. Where clocks skip midnight it is the first one that they show.
    #[must_use]
    pub fn start_of(&self, day: NaiveDate) -> Timestamp {
        let year = i16::try_from(day.year()).unwrap_or(9999);
        let (month, of_month) = (day.month() as i8, day.day() as i8);
        let start = jiff::civil::Date::new(year, month, of_month)
            .ok()
            .and_then(|date| date.to_zoned(self.zone.clone()).ok())
            .map(|start| start.timestamp().as_second());
        start.and_then(|second| Timestamp::from_timestamp(second, 0)).unwrap_or(Timestamp::MAX_UTC)
    }

    /// The whole month of an instant.
    #[must_use]
    pub fn month_of(&self, at: Timestamp) -> Period {
        let at = jiff::Timestamp::from_second(at.timestamp()).unwrap_or(jiff::Timestamp::MAX);
        let day = at.to_zoned(self.zone.clone()).date();
        let month =
            NaiveDate::from_ymd_opt(day.year().into(), day.month().unsigned_abs().into(), 1);
        let month = month.unwrap_or(NaiveDate::MAX);
        Period { month, starts_at: self.start_of(month), ends_at: self.start_of(after(month)) }
    }

    /// The month after a period: it begins where that ended, also where the zone was another.
    #[must_use]
    pub fn next(&self, period: &Period) -> Period {
        let month = after(period.month);
        Period { month, starts_at: period.ends_at, ends_at: self.start_of(after(month)) }
    }

    /// The same month of this zone, from where it began.
    #[must_use]
    pub fn moved(&self, period: &Period) -> Period {
        Period { ends_at: self.start_of(after(period.month)), ..*period }
    }

    /// A day as the zone's clocks show it.
    #[must_use]
    pub fn day_of(&self, at: Timestamp) -> NaiveDate {
        let at = jiff::Timestamp::from_second(at.timestamp()).unwrap_or(jiff::Timestamp::MAX);
        let day = at.to_zoned(self.zone.clone()).date();
        let (month, of_month) = (day.month().unsigned_abs(), day.day().unsigned_abs());
        NaiveDate::from_ymd_opt(day.year().into(), month.into(), of_month.into())
            .unwrap_or(NaiveDate::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::quarter;
    use crate::time::{format_time, parse_time};

    fn zone(name: &str) -> BillingZone {
        name.parse().unwrap()
    }

    fn shown(period: &Period) -> [String; 3] {
        [period.month.to_string(), format_time(period.starts_at), format_time(period.ends_at)]
    }

    #[test]
    fn a_month_ends_when_the_zones_clocks_say_so_in_summer_as_in_winter() {
        // Berlin goes to summer time within March, and back within October: one is an hour short, the other an hour long.
        for (name, at, wanted) in [
            (
                "UTC",
                "2030-01-31T23:59:59Z",
                ["2030-01-01", "2030-01-01T00:00:00Z", "2030-02-01T00:00:00Z"],
            ),
            (
                "Europe/Berlin",
                "2030-02-28T23:00:00Z",
                ["2030-03-01", "2030-02-28T23:00:00Z", "2030-03-31T22:00:00Z"],
            ),
            (
                "Europe/Berlin",
                "2030-09-30T22:00:00Z",
                ["2030-10-01", "2030-09-30T22:00:00Z", "2030-10-31T23:00:00Z"],
            ),
            (
                "Europe/Berlin",
                "2030-09-30T21:59:59Z",
                ["2030-09-01", "2030-08-31T22:00:00Z", "2030-09-30T22:00:00Z"],
            ),
            (
                "Asia/Kathmandu",
                "2030-05-31T18:15:00Z",
                ["2030-06-01", "2030-05-31T18:15:00Z", "2030-06-30T18:15:00Z"],
            ),
            (
                "America/St_Johns",
                "2030-04-01T02:30:00Z",
                ["2030-04-01", "2030-04-01T02:30:00Z", "2030-05-01T02:30:00Z"],
            ),
        ] {
            let period = zone(name).month_of(parse_time(at).unwrap());
            assert_eq!(shown(&period), wanted, "{name} {at}");
        }
    }

    #[test]
    fn months_follow_each_other_without_a_gap_and_begin_at_quarters() {
        for name in
            ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"]
        {
            let zone = zone(name);
            let mut period = zone.month_of(parse_time("2027-01-15T00:00:00Z").unwrap());
            for _ in 0..48 {
                let next = zone.next(&period);
                assert_eq!(next.starts_at, period.ends_at);
                assert_eq!(quarter(next.ends_at), next.ends_at, "{name}");
                assert_eq!(zone.month_of(next.starts_at), next, "{name}");
                period = next;
            }
        }
    }

    #[test]
    fn another_zone_moves_the_end_of_a_month_and_not_its_beginning() {
        let utc = BillingZone::default().month_of(parse_time("2030-03-15T00:00:00Z").unwrap());
        let tokyo = zone("Asia/Tokyo");
        let moved = tokyo.moved(&utc);
        assert_eq!(shown(&moved), ["2030-03-01", "2030-03-01T00:00:00Z", "2030-03-31T15:00:00Z"]);
        assert_eq!(shown(&tokyo.next(&moved))[1], "2030-03-31T15:00:00Z");
    }

    #[test]
    fn a_zone_has_the_name_that_iana_gives_it() {
        assert_eq!(zone("europe/berlin").to_string(), "Europe/Berlin");
        assert_eq!(BillingZone::default(), zone("UTC"));
        for wrong in ["", "Berlin", "+01:00", "Etc/Unknown"] {
            assert!(wrong.parse::<BillingZone>().is_err(), "{wrong}");
        }
        assert_eq!(
            zone("Asia/Tokyo").day_of(parse_time("2030-01-31T15:00:00Z").unwrap()).to_string(),
            "2030-02-01"
        );
    }
}
