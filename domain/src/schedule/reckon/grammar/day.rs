//! The signs that only days have: `L` for the last, `W` for the nearest from Monday to Friday, `#` for the nth of a month.

use super::field::Field;

/// Checks a day of the month with `L` or `W`; `None` where it has neither.
pub(super) fn check_month_day(field: &Field, item: &str) -> Option<Result<(), String>> {
    if !item.contains(['L', 'W']) {
        return None;
    }
    if ["L", "LW"].contains(&item) {
        return Some(Ok(()));
    }
    let day = item.strip_suffix('W').unwrap_or_default();
    Some(if field.value(day).is_some() {
        Ok(())
    } else if item == "WL" {
        Err("the last day from Monday to Friday is `LW`, and not `WL`".to_owned())
    } else if item.starts_with("L-") {
        Err(format!(
            "`{item}` counts days back from the last, which no pattern does; `L` is the last and `LW` the last from Monday to Friday"
        ))
    } else if item.contains('W') && item.contains('-') {
        Err(format!("`W` goes with one day of the month, such as `15W`, and not with `{item}`"))
    } else {
        Err(field.none(item))
    })
}

/// Whether a list of days of the month has both `L` and a day with `W`.
pub(in super::super) fn mixes_last_and_nearest(list: &str) -> bool {
    list.split(',').any(|item| item == "L") && list.split(',').any(|item| item.ends_with('W'))
}

/// Checks a day of the week with `L` or `#`; `None` where it has neither.
pub(super) fn check_weekday(field: &Field, item: &str) -> Option<Result<(), String>> {
    let known = |day: &str| field.value(day).is_some();
    if let Some((day, nth)) = item.split_once('#') {
        return Some(if !known(day) {
            let one =
                "goes with one day of the week, such as `MON#2` for the second Monday of a month";
            Err(format!("`#` {one}, and not with `{item}`"))
        } else if ["1", "2", "3", "4", "5"].contains(&nth) {
            Ok(())
        } else if nth == "L" {
            Err(format!("the last such day of the week in a month is `{day}L`, and not `{item}`"))
        } else {
            Err(format!(
                "behind `#` stands one digit from 1 to 5, such as `{day}#2` for the second such day of a month, and not as in `{item}`"
            ))
        });
    }
    let day = item.strip_suffix('L')?;
    Some(if known(day) {
        Ok(())
    } else if day.is_empty() {
        Err("`L` needs a day of the week before it, such as `5L` or `FRIL` for the last Friday of a month".to_owned())
    } else {
        let one = "goes with one day of the week, such as `FRIL` for the last Friday of a month";
        Err(format!("`L` {one}, and not with `{item}`"))
    })
}
