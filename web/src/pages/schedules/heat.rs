//! What became of a schedule's due times, a square each: the latest last.

use crate::svg::Escaped;
use crate::words::count;
use api_types::Fire;
use askama::filters::HtmlSafe;
use std::fmt;

/// Squares in a row.
const ACROSS: usize = 32;
const SIDE: usize = 18;

/// What the outcomes of fires have in common: class, and what it says.
const KINDS: [(&str, &str); 4] = [
    ("good", "made its task or run"),
    ("warn", "skipped as its policy says, or paused"),
    ("bad", "made nothing, though it was to"),
    ("calm", "another outcome"),
];

/// The map.
pub(super) struct Heat {
    squares: Vec<(&'static str, String)>,
    summary: String,
}

/// A line of the legend: class, what it says, how many.
pub(super) type Key = (&'static str, &'static str, String);

impl Heat {
    /// Of fires that are newest first.
    pub(super) fn of(fires: &[Fire]) -> Self {
        let square = |fire: &Fire| {
            let word = fire.outcome.to_string();
            let at = fire.due_at.format("%Y-%m-%d %H:%M:%S UTC");
            (tone(&word), format!("{at}: {}", word.replace('_', " ")))
        };
        let squares: Vec<_> = fires.iter().rev().map(square).collect();
        let day = |fire: Option<&Fire>| {
            fire.map(|fire| fire.due_at.format("%Y-%m-%d %H:%M UTC").to_string())
        };
        let span = match (day(fires.last()), day(fires.first())) {
            (Some(from), Some(to)) if fires.len() > 1 => format!(", from {from} to {to}"),
            (Some(from), _) => format!(", on {from}"),
            _ => String::new(),
        };
        let mut heat = Self { squares, summary: String::new() };
        let parts: Vec<String> =
            heat.keys().into_iter().map(|(_, says, count)| format!("{count} {says}")).collect();
        let times = if fires.len() == 1 { "due time" } else { "due times" };
        heat.summary = format!("{} {times}{span}: {}", fires.len(), parts.join(", "));
        heat
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// What it says, in a sentence.
    pub(super) fn summary(&self) -> &str {
        &self.summary
    }

    /// Its legend: the kinds that it has.
    pub(super) fn keys(&self) -> Vec<Key> {
        let of = |(tone, says): (&'static str, &'static str)| {
            let found = self.squares.iter().filter(|(found, _)| *found == tone).count();
            (found > 0).then(|| (tone, says, count(i64::try_from(found).unwrap_or(i64::MAX))))
        };
        KINDS.into_iter().filter_map(of).collect()
    }
}

/// The class of an outcome of a fire.
pub(super) fn tone(outcome: &str) -> &'static str {
    match outcome {
        "fired" | "late" => "good",
        "skipped_overlap" | "collapsed_misfire" | "skipped_misfire" | "paused" => "warn",
        "suspended"
        | "shed_quota"
        | "shed_spend_cap"
        | "pool_unavailable"
        | "workflow_unavailable" => "bad",
        _ => "calm",
    }
}

/// Texts are escaped below.
impl HtmlSafe for Heat {}

impl fmt::Display for Heat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.squares.len().div_ceil(ACROSS).max(1);
        let (width, height) = (ACROSS * SIDE, rows * SIDE);
        write!(
            f,
            r#"<svg class="chart heat" viewBox="0 0 {width} {height}" role="img" aria-label="{}">"#,
            Escaped(&self.summary)
        )?;
        for (place, (tone, text)) in self.squares.iter().enumerate() {
            let (x, y) = (place % ACROSS * SIDE, place / ACROSS * SIDE);
            // The form says the same as the colour: a square, a disc, a sharp square.
            let round = match *tone {
                "warn" => SIDE / 2,
                "bad" => 0,
                _ => 3,
            };
            write!(
                f,
                r#"<rect class="{tone}" x="{x}" y="{y}" width="{0}" height="{0}" rx="{round}"><title>{1}</title></rect>"#,
                SIDE - 3,
                Escaped(text)
            )?;
        }
        f.write_str("</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::schedule::Outcome;
    use serde_json::json;

    fn fire(outcome: &str, hour: u32) -> Fire {
        serde_json::from_value(json!({
            "due_at": format!("2030-01-31T{hour:02}:00:00Z"), "outcome": outcome, "kind": "scheduled",
            "fired_at": "2030-01-31T12:00:00Z", "task": null, "version": 1, "detail": null
        }))
        .unwrap()
    }

    #[test]
    fn each_outcome_has_a_class_and_only_those_that_make_something_are_good() {
        for outcome in Outcome::ALL {
            assert_eq!(tone(outcome.as_str()) == "good", outcome.makes_task(), "{outcome:?}");
            assert_ne!(tone(outcome.as_str()), "calm", "{outcome:?}");
        }
    }

    #[test]
    fn the_map_says_in_words_what_it_shows() {
        let heat = Heat::of(&[fire("paused", 3), fire("fired", 2), fire("fired", 1)]);
        assert_eq!(
            heat.summary(),
            "3 due times, from 2030-01-31 01:00 UTC to 2030-01-31 03:00 UTC: 2 made its task or run, 1 skipped as its policy says, or paused"
        );
        let svg = heat.to_string();
        assert!(
            svg.contains("aria-label=\"3 due times") && svg.matches("<rect").count() == 3,
            "{svg}"
        );
        assert!(Heat::of(&[fire("<b>", 1)]).to_string().contains("&lt;b&gt;"));
        assert!(Heat::of(&[]).is_empty());
    }
}
