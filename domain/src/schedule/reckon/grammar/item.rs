//! One item of a field's list: a value, a range, or a step.

use super::day::{check_month_day, check_weekday};
use super::field::{Field, Kind};

/// Checks one item, in capitals.
///
/// # Errors
/// What is wrong with it, and what to write instead.
pub(super) fn check_item(field: &Field, item: &str) -> Result<(), String> {
    if let Some((range, step)) = item.split_once('/') {
        return check_step(field, item, (range, step));
    }
    let special = match field.kind {
        Kind::MonthDay => check_month_day(field, item),
        Kind::Weekday => check_weekday(field, item),
        Kind::Second | Kind::Minute | Kind::Hour | Kind::Month => None,
    };
    if let Some(checked) = special {
        return checked;
    }
    match item.split_once('-') {
        Some((from, to)) => check_range(field, item, (from, to)).map(drop),
        None => field.value(item).map(drop).ok_or_else(|| field.none(item)),
    }
}

/// The first and the last value of a range. A week may end with a 7th day, Sunday.
fn check_range(field: &Field, item: &str, (from, to): (&str, &str)) -> Result<(u32, u32), String> {
    let (Some(first), Some(last)) = (field.value(from), field.end(to)) else {
        return Err(field.none(item));
    };
    let name = field.name;
    if field.is_week() && first == 0 && to == "SUN" {
        return Err(format!(
            "`{item}` may be one {name} or all of them; write `SUN` for the one, `*` for all"
        ));
    }
    if first > last {
        let around = around_the_end(field, from, (first, last));
        return Err(format!(
            "the {name} `{item}` ends before it begins; write `{around}` to go on from the start"
        ));
    }
    Ok((first, last))
}

/// A range that ends before it begins, as one up to the end and one from the start.
fn around_the_end(field: &Field, from: &str, (first, last): (u32, u32)) -> String {
    let text = |value: u32| {
        let at = value.saturating_sub(*field.values.start()) as usize;
        match field.names.len() {
            0 => value.to_string(),
            _ if !field.names.contains(&from) => value.to_string(),
            count => field.names[at % count].to_owned(),
        }
    };
    let span = |first: u32, last: u32| {
        if first == last { text(first) } else { format!("{}-{}", text(first), text(last)) }
    };
    // A week goes from Monday to Sunday.
    let (low, high) =
        if field.is_week() { (1, 7) } else { (*field.values.start(), *field.values.end()) };
    if last < low {
        span(first, high)
    } else {
        format!("{},{}", span(first, high), span(low, last))
    }
}

/// Checks `range/step`.
fn check_step(field: &Field, item: &str, (range, step): (&str, &str)) -> Result<(), String> {
    let plain = step.bytes().all(|digit| digit.is_ascii_digit())
        && (step.len() <= 2 || step.len() <= 6 && !step.starts_with('0'));
    let Some(step) = step.parse::<u32>().ok().filter(|_| plain) else {
        return Err(field.none(item));
    };
    let name = field.name;
    if step == 0 {
        return Err(format!("the step of the {name} `{item}` is 0; it is 1 or more"));
    }
    let end = if field.is_week() { 6 } else { *field.values.end() };
    let (first, last) = match range.split_once('-') {
        Some(bounds) => check_range(field, range, bounds)?,
        None if ["*", ""].contains(&range) => (*field.values.start(), end),
        None => {
            let first = field.value(range).ok_or_else(|| field.none(item))?;
            (first, end.max(first))
        }
    };
    let day = |value| if field.is_week() { value % 7 } else { value };
    let mut values = (first..=last).step_by(step as usize).map(day);
    let one = values.next();
    if values.all(|value| Some(value) == one) {
        let interval = if range.contains('-') { None } else { interval(field.kind, step) };
        return Err(format!(
            "the step of the {name} `{item}` is longer than its range, {first} to {last}, so that it only means {first}; write `{first}`{}",
            interval.unwrap_or_default()
        ));
    }
    if range == "*" || range.contains('-') {
        return Ok(());
    }
    let meant =
        if range.is_empty() { format!("*/{step}") } else { format!("{range}-{end}/{step}") };
    Err(format!("the {name} `{item}` has a step without a range; write `{meant}`"))
}

/// How an interval of `step` is written instead.
fn interval(kind: Kind, step: u32) -> Option<String> {
    let every = match kind {
        Kind::Second => format!("{step}s"),
        Kind::Minute => format!("{step}m"),
        Kind::Hour => format!("{step}h"),
        Kind::MonthDay => format!("{}h", u64::from(step) * 24),
        Kind::Month | Kind::Weekday => return None,
    };
    Some(format!(", or {{\"every\": {{\"every\": \"{every}\"}}}} for an interval"))
}
