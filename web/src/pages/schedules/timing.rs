//! When a schedule is due, in a line.

use serde_json::Value;

/// The specs of a timing and its zone.
pub(super) fn in_words(timing: &impl serde::Serialize) -> String {
    let timing = serde_json::to_value(timing).unwrap_or_default();
    let specs = timing["specs"].as_array().cloned().unwrap_or_default();
    let specs: Vec<String> = specs.iter().map(spec).collect();
    match timing["zone"].as_str() {
        Some(zone) if !specs.is_empty() => format!("{}, {zone}", specs.join("; ")),
        _ => specs.join("; "),
    }
}

fn spec(spec: &Value) -> String {
    if let Some(cron) = spec["cron"].as_str() {
        return format!("cron {cron}");
    }
    if let Some(every) = spec["every"]["every"].as_str() {
        return format!("every {every}");
    }
    if let Some(at) = spec["at"].as_str() {
        return format!("once at {at}");
    }
    // Of a calendar and the like: as it is stored.
    spec.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_timing_is_a_line() {
        let timing =
            json!({"specs": [{"cron": "0 2 * * *"}, {"every": {"every": "90s"}}], "zone": "UTC"});
        assert_eq!(in_words(&timing), "cron 0 2 * * *; every 90s, UTC");
        assert_eq!(in_words(&json!({})), "");
    }
}
