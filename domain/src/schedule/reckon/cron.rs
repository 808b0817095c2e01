//! Reads a cron pattern.
//!
//! The fields are read, and days matched, by a library; instants are not its business. What it would guess at is refused before:
//! an empty place in a list, a name in a field that has none.
//!
//! What was read is kept for a while: of many schedules most say one of a few patterns, and the library takes tens of microseconds
//! for each. What a text means never changes, so that nobody can tell.

use super::cron_fault::fault;
use super::days::Days;
use super::pattern::Pattern;
use super::times::Times;
use croner::parser::{CronParser, Year};
use croner::{CronComponent, CronPattern};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Longest pattern, characters.
const LONGEST: usize = 256;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// Names of whole patterns.
const NAMED: [(&str, &str); 7] = [
    ("@YEARLY", "0 0 1 1 *"),
    ("@ANNUALLY", "0 0 1 1 *"),
    ("@MONTHLY", "0 0 1 * *"),
    ("@WEEKLY", "0 0 * * 0"),
    ("@DAILY", "0 0 * * *"),
    ("@MIDNIGHT", "0 0 * * *"),
    ("@HOURLY", "0 * * * *"),
];

/// Patterns kept, at most; then all are forgotten.
const MOST_KEPT: usize = 4096;

static KEPT: LazyLock<RwLock<HashMap<String, Arc<Pattern>>>> = LazyLock::new(RwLock::default);

/// The pattern that `text` means.
///
/// # Errors
/// Why it means none.
pub(super) fn read(text: &str) -> Result<Arc<Pattern>, String> {
    if text.len() > LONGEST || !text.is_ascii() {
        return Err(format!("it may have {LONGEST} plain characters at most"));
    }
    if let Some(pattern) = KEPT.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(Arc::clone(pattern));
    }
    let pattern = Arc::new(parse(text)?);
    let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(text.to_owned(), Arc::clone(&pattern));
    Ok(pattern)
}

fn parse(text: &str) -> Result<Pattern, String> {
    let upper = text.trim().to_ascii_uppercase();
    let plain = if upper.starts_with('@') {
        let known = NAMED.iter().find(|(name, _)| *name == upper);
        known.map(|(_, pattern)| *pattern).ok_or_else(|| {
            "of the names it may be @yearly, @monthly, @weekly, @daily or @hourly".to_owned()
        })?
    } else {
        check_fields(&upper)?;
        upper.as_str()
    };
    let parser = CronParser::builder().year(Year::Disallowed).build();
    let reads = |pattern: &str| parser.parse(pattern).is_ok();
    let mut pattern = parser.parse(plain).map_err(|_| fault(plain, reads))?.pattern;
    // One bit for each of five thousand years, of which none is ever asked.
    pattern.years = CronComponent::new(0, 0, 0, 0);
    let bits = |field: &CronComponent| field.values().into_iter().fold(0, |all, n| all | 1 << n);
    let times = Times::Fields {
        hours: u32::try_from(bits(&pattern.hours)).unwrap_or(0),
        minutes: bits(&pattern.minutes),
        seconds: bits(&pattern.seconds),
    };
    Ok(Pattern { times, days: days(pattern) })
}

fn days(pattern: CronPattern) -> Days {
    let each_month = pattern.months.values().len() == 12;
    if each_month && pattern.is_dom_wildcard() && pattern.is_dow_wildcard() {
        Days::All
    } else {
        Days::Cron(Box::new(pattern))
    }
}

fn check_fields(upper: &str) -> Result<(), String> {
    let fields: Vec<&str> = upper.split_ascii_whitespace().collect();
    if !(5..=6).contains(&fields.len()) {
        return Err(format!("it has {} fields and not 5 or 6", fields.len()));
    }
    let of_days = fields.len() - 3;
    for (index, field) in fields.iter().enumerate() {
        if field.split(',').any(str::is_empty) {
            return Err(format!("`{field}` lists nothing between, before or after commas"));
        }
        let mut words = field.split(|letter: char| !letter.is_ascii_alphabetic());
        let known = |word: &str| match index.checked_sub(of_days) {
            Some(0) => ["L", "W", "LW"].contains(&word),
            Some(1) => MONTHS.contains(&word),
            Some(_) => word == "L" || WEEKDAYS.contains(&word.strip_suffix('L').unwrap_or(word)),
            None => false,
        };
        if let Some(word) = words.find(|word| !word.is_empty() && !known(word)) {
            return Err(format!("`{word}` has no meaning in `{field}`"));
        }
    }
    if fields[of_days + 2].split(',').any(|part| part == "L") {
        return Err("L needs a weekday before it, such as 5L for the last Friday".to_owned());
    }
    let mut days = fields[of_days].split(',');
    if days.clone().any(|part| part == "L") && days.any(|part| part.ends_with('W')) {
        return Err("L and W cannot stand in one list; give two patterns".to_owned());
    }
    Ok(())
}
