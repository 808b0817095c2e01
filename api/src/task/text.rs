//! Checks of single values: lengths, letters, durations, ranges.
//!
//! Each notes what is wrong and goes on with a harmless value: a task with findings is never stored.

use super::findings::Findings;
use api_types::request::{Given, Written};
use domain::name::{ParseTenantNameError, TenantName};
use domain::time::format_duration;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Postgres stores no NUL in a text, and no program takes one in an argument.
pub(super) fn without_nul(findings: &mut Findings, pointer: &str, text: &str) -> bool {
    let fine = !text.contains('\0');
    if !fine {
        findings.wrong(pointer, "must not contain a NUL character");
    }
    fine
}

/// A text of 1 to `max` characters, without NUL.
pub(crate) fn short_text(findings: &mut Findings, pointer: &str, text: &str, max: usize) {
    if without_nul(findings, pointer, text) && !has_length(text, 1..=max) {
        findings.wrong(pointer, format!("must have 1 to {max} characters"));
    }
}

/// The name of a new tenant.
pub(crate) fn check_tenant_name(
    findings: &mut Findings,
    pointer: &str,
    text: &str,
) -> Option<TenantName> {
    text.parse()
        .map_err(|error: ParseTenantNameError| findings.wrong(pointer, error.to_string()))
        .ok()
}

/// Characters, without counting through a long text.
pub(super) fn has_length(text: &str, range: RangeInclusive<usize>) -> bool {
    text.len() >= *range.start()
        && text.len() <= range.end() * 4
        && range.contains(&text.chars().take(range.end() + 1).count())
}

/// What is given, where it is good.
pub(crate) fn read<T: Written>(
    findings: &mut Findings,
    pointer: &str,
    given: Option<Given<T>>,
) -> Option<T> {
    given?.read().map_err(|wrong| findings.wrong(pointer, wrong.to_string())).ok()
}

/// A duration in `range`, or `default` when left out.
pub(crate) fn duration(
    findings: &mut Findings,
    pointer: &str,
    given: Option<Given<Duration>>,
    range: RangeInclusive<Duration>,
    default: Duration,
) -> Duration {
    let Some(duration) = read(findings, pointer, given) else { return default };
    if range.contains(&duration) {
        return duration;
    }
    let (least, most) = (format_duration(*range.start()), format_duration(*range.end()));
    findings.wrong(pointer, format!("must be from \"{least}\" to \"{most}\""));
    default
}

/// Puts a pair into a map; gives it back where its key is there already.
pub(super) fn put_once(
    map: &mut BTreeMap<String, String>,
    key: String,
    value: String,
) -> Option<(String, String)> {
    match map.entry(key) {
        Entry::Vacant(free) => {
            free.insert(value);
            None
        }
        Entry::Occupied(taken) => Some((taken.key().clone(), value)),
    }
}

/// A whole number in `range`.
pub(super) fn number(
    findings: &mut Findings,
    pointer: &str,
    value: u32,
    range: RangeInclusive<u32>,
) -> u32 {
    if !range.contains(&value) {
        findings.wrong(pointer, format!("must be from {} to {}", range.start(), range.end()));
    }
    value
}
