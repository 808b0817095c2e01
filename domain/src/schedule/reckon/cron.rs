//! Reads a cron pattern.
//!
//! The fields are read, and days matched, by a library; instants are not its business. What a new pattern may be is checked by
//! [`super::grammar`]; a stored one is read as it always was, as long as the library reads it.
//!
//! What was read is kept for a while: of many schedules most say one of a few patterns, and the library takes tens of microseconds
//! for each. What a text means never changes, so that nobody can tell.

use super::days::Days;
use super::grammar::{self, LONGEST, MONTHS, NAMED, WEEKDAYS, mixes_last_and_nearest};
use super::pattern::Pattern;
use super::times::Times;
use croner::parser::{CronParser, Year};
use croner::{CronComponent, CronPattern};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Patterns kept, at most; then all are forgotten.
const MOST_KEPT: usize = 4096;

static KEPT: LazyLock<RwLock<HashMap<String, Arc<Pattern>>>> = LazyLock::new(RwLock::default);

/// The pattern that `text` means.
///
/// # Errors
/// Why it means none.
pub(super) fn read(text: &str) -> Result<Arc<Pattern>, String> {
    if let Some(pattern) = KEPT.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(Arc::clone(pattern));
    }
    let unread = || "its fields cannot be read together".to_owned();
    let pattern = parse(text).ok_or_else(|| grammar::check(text).err().unwrap_or_else(unread))?;
    let pattern = Arc::new(pattern);
    let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(text.to_owned(), Arc::clone(&pattern));
    Ok(pattern)
}

/// Whether `text` is a pattern that is due whenever the clock shows its time, and has no fixed times of day.
pub(in crate::schedule) fn recurs(text: &str) -> bool {
    read(text).is_ok_and(|pattern| pattern.recurs)
}

fn parse(text: &str) -> Option<Pattern> {
    if text.len() > LONGEST || !text.is_ascii() {
        return None;
    }
    let upper = text.trim().to_ascii_uppercase();
    let named = NAMED.iter().find(|(name, _)| *name == upper);
    let plain = named.map_or(upper.as_str(), |(_, pattern)| *pattern);
    let fields: Vec<&str> = plain.split_ascii_whitespace().collect();
    if !(5..=6).contains(&fields.len()) || !words_fit(&fields) {
        return None;
    }
    let [minute, hour, month_day, _, weekday] = fields[fields.len() - 5..] else { return None };
    let is_open = |field: &str| field.starts_with(['*', '?']);
    let parser = CronParser::builder()
        .year(Year::Disallowed)
        // Either of the two is enough only where both are restricted.
        .dom_and_dow(is_open(month_day) || is_open(weekday))
        .build();
    let mut pattern = parser.parse(plain).ok()?.pattern;
    // One bit for each of five thousand years, of which none is ever asked.
    pattern.years = CronComponent::new(0, 0, 0, 0);
    let bits = |field: &CronComponent| field.values().into_iter().fold(0, |all, n| all | 1 << n);
    let times = Times::Fields {
        hours: u32::try_from(bits(&pattern.hours)).unwrap_or(0),
        minutes: bits(&pattern.minutes),
        seconds: bits(&pattern.seconds),
    };
    let recurs = minute.starts_with('*') || hour.starts_with('*');
    Some(Pattern { times, days: days(pattern), recurs })
}

fn days(pattern: CronPattern) -> Days {
    let each_month = pattern.months.values().len() == 12;
    if each_month && pattern.is_dom_wildcard() && pattern.is_dow_wildcard() {
        Days::All
    } else {
        Days::Cron(Box::new(pattern))
    }
}

/// Whether each list is full, and each word has a meaning in its field, which the library does not see to.
fn words_fit(fields: &[&str]) -> bool {
    let of_days = fields.len() - 3;
    let known = |index: usize, word: &str| match index.checked_sub(of_days) {
        Some(0) => ["L", "W", "LW"].contains(&word),
        Some(1) => MONTHS.contains(&word),
        Some(_) => word == "L" || WEEKDAYS.contains(&word.strip_suffix('L').unwrap_or(word)),
        None => false,
    };
    let fits = |(index, field): (usize, &&str)| {
        let words = field.split(|letter: char| !letter.is_ascii_alphabetic());
        words.filter(|word| !word.is_empty()).all(|word| known(index, word))
            && !field.split(',').any(str::is_empty)
    };
    fields.iter().enumerate().all(fits)
        && !fields[of_days + 2].split(',').any(|part| part == "L")
        && !mixes_last_and_nearest(fields[of_days])
}
