//! One field of a pattern: `*`, `?`, or a list of items.

use super::day::mixes_last_and_nearest;
use super::field::{Field, Kind};
use super::item::check_item;

/// Checks the field `text`, in capitals.
///
/// # Errors
/// What is wrong with it, and what to write instead.
pub(super) fn check_field(field: &Field, text: &str) -> Result<(), String> {
    let name = field.name;
    // Both fields of days must match then.
    let list = if field.is_week() { text.strip_prefix('+').unwrap_or(text) } else { text };
    if list == "*" || list == "?" && field.is_of_days() {
        return Ok(());
    }
    if list.contains('?') {
        return Err(if field.is_of_days() {
            format!("`?` stands alone in the field {name}, and not as in `{text}`")
        } else {
            format!("`?` stands for any day only; write `*` for each {name}, and not `{text}`")
        });
    }
    for item in list.split(',') {
        match item {
            "" => {
                return Err(format!(
                    "`{text}` lists nothing between, before or after commas in the field {name}"
                ));
            }
            "*" => {
                return Err(format!("`*` is each {name} already; leave out the rest of `{text}`"));
            }
            _ => check_item(field, item)?,
        }
    }
    if field.kind == Kind::MonthDay && mixes_last_and_nearest(list) {
        return Err(format!("`L` and `W` cannot stand in one list, `{text}`; give two patterns"));
    }
    Ok(())
}
