//! A cron pattern as a whole: its length, what stands before its fields, and how many fields it has.

use super::field::FIELDS;
use super::list::check_field;
use crate::time::parse_duration;

/// Longest pattern, characters.
pub(in super::super) const LONGEST: usize = 256;

/// Names of whole patterns.
pub(in super::super) const NAMED: [(&str, &str); 7] = [
    ("@YEARLY", "0 0 1 1 *"),
    ("@ANNUALLY", "0 0 1 1 *"),
    ("@MONTHLY", "0 0 1 * *"),
    ("@WEEKLY", "0 0 * * 0"),
    ("@DAILY", "0 0 * * *"),
    ("@MIDNIGHT", "0 0 * * *"),
    ("@HOURLY", "0 * * * *"),
];

const FORM: &str = "write `minute hour day month weekday`, or 6 fields with the seconds first";

/// Checks `text`.
///
/// # Errors
/// What is wrong with it, in which field, and what to write instead.
pub(in crate::schedule) fn check(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("it has more than {LONGEST} characters"));
    }
    if let Some(odd) = text.chars().find(|letter| !letter.is_ascii_graphic() && !is_space(*letter))
    {
        return Err(format!("`{}` is no ASCII letter, digit or sign", odd.escape_default()));
    }
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let Some(first) = fields.first() else { return Err(format!("it is empty; {FORM}")) };
    if first.starts_with('@') {
        return check_name(first, &fields[1..]);
    }
    if let Some((name, zone)) = first.split_once('=')
        && ["CRON_TZ", "TZ"].iter().any(|known| known.eq_ignore_ascii_case(name))
    {
        return Err(format!(
            "a zone is no part of it; leave out `{first}` and give the timing {{\"zone\": \"{zone}\"}}"
        ));
    }
    match fields.len() {
        5 | 6 => {}
        7 => {
            return Err(format!(
                "it has 7 fields: a year is no part of it; give the timing `start_at` and `end_at`, and {FORM}"
            ));
        }
        count => return Err(format!("it has {count} fields and not 5 or 6; {FORM}")),
    }
    for (field, text) in FIELDS.iter().skip(FIELDS.len() - fields.len()).zip(fields) {
        check_field(field, &text.to_ascii_uppercase())?;
    }
    Ok(())
}

fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace()
}

/// Checks a pattern that is a name, such as `@daily`, with what stands behind it.
fn check_name(name: &str, rest: &[&str]) -> Result<(), String> {
    let upper = name.to_ascii_uppercase();
    if upper == "@EVERY" {
        let given = rest.first().copied().filter(|text| parse_duration(text).is_ok());
        let every = given.unwrap_or("5m");
        return Err(format!(
            "an interval is a kind of its own; write {{\"every\": {{\"every\": \"{every}\"}}}}"
        ));
    }
    if !NAMED.iter().any(|(known, _)| *known == upper) {
        return Err(format!(
            "`{name}` is none of the names @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly"
        ));
    }
    if rest.is_empty() { Ok(()) } else { Err(format!("nothing may stand behind `{name}`")) }
}
