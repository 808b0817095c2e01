//! A timing in words, from the JSON in which the server shows it: for people, on one line.
//!
//! A server that is newer may show what is not known here; that is shown as it came.

use serde_json::Value;

/// When a schedule is due.
pub fn when(timing: &Value) -> String {
    let specs = timing["specs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = specs.iter().map(spec).collect::<Vec<_>>().join("; ");
    if let Some(zone) = timing["zone"].as_str().filter(|zone| *zone != "UTC") {
        text.push_str(&format!(" ({zone})"));
    }
    text
}

fn spec(spec: &Value) -> String {
    let list = |value: &Value| match value.as_array() {
        Some(entries) => entries.iter().map(plain).collect::<Vec<_>>().join(", "),
        None => String::new(),
    };
    let Some((kind, of)) = spec.as_object().and_then(|spec| spec.iter().next()) else {
        return spec.to_string();
    };
    let (on, at) = (list(&of["on"]), list(&of["at"]));
    match kind.as_str() {
        "cron" => plain(of),
        "every" if of["counting"] == "fixed_delay" => {
            format!("{} after a task ended", plain(&of["every"]))
        }
        "every" => format!("every {}", plain(&of["every"])),
        "at" => format!("at {}", plain(of)),
        "after" => format!("once, {} after it was made", plain(of)),
        "daily" => format!("daily at {at}"),
        "weekly" => format!("{on} at {at}"),
        "monthly" => format!("day {on} of the month at {at}"),
        "yearly" => format!("{on} of the year at {at}"),
        _ => spec.to_string(),
    }
}

/// A text without its quotes.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_timing_is_said_on_one_line() {
        let timing = json!({"zone": "Europe/Berlin", "specs": [
            {"cron": "*/5 * * * *"},
            {"every": {"every": "1m30s", "counting": "fixed_rate"}},
            {"every": {"every": "1h", "counting": "fixed_delay"}},
            {"weekly": {"on": ["monday", "friday"], "at": ["09:00"]}},
            {"monthly": {"on": [1, "last"], "at": ["00:00"]}},
            {"of_tomorrow": 1}]});
        assert_eq!(
            when(&timing),
            "*/5 * * * *; every 1m30s; 1h after a task ended; monday, friday at 09:00; day 1, last of the month at 00:00; \
             {\"of_tomorrow\":1} (Europe/Berlin)"
        );
        assert_eq!(
            when(&json!({"zone": "UTC", "specs": [{"daily": {"at": ["09:00"]}}]})),
            "daily at 09:00"
        );
    }
}
