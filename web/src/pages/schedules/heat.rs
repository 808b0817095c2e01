//! What became of a schedule's due times, a square each: the latest last.

use crate::svg::Escaped;
use crate::words::mark_of;
use api_types::Fire;
use askama::filters::HtmlSafe;
use std::fmt;

/// Squares in a row.
const ACROSS: usize = 40;
const SIDE: usize = 18;

/// The map.
pub(super) struct Heat(Vec<(&'static str, String)>);

impl Heat {
    /// Of fires that are newest first.
    pub(super) fn of(fires: &[Fire]) -> Self {
        let square = |fire: &Fire| {
            let word = fire.outcome.to_string();
            let tone = match word.as_str() {
                "fired" | "created" | "started" => "good",
                "missed" | "failed" => "bad",
                "skipped" | "overlap_skipped" | "buffered" | "replaced" => "warn",
                word => mark_of(word).tone(),
            };
            (
                tone,
                format!(
                    "{}: {}",
                    fire.due_at.format("%Y-%m-%d %H:%M:%S UTC"),
                    word.replace('_', " ")
                ),
            )
        };
        Self(fires.iter().rev().map(square).collect())
    }

    /// Whether there is none.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Texts are escaped below.
impl HtmlSafe for Heat {}

impl fmt::Display for Heat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = (ACROSS * SIDE, self.0.len().div_ceil(ACROSS).max(1) * SIDE);
        write!(
            f,
            r#"<svg class="chart heat" viewBox="0 0 {width} {height}" role="img" aria-label="The last {} due times by outcome; each is listed below">"#,
            self.0.len()
        )?;
        for (place, (tone, text)) in self.0.iter().enumerate() {
            let (x, y) = (place % ACROSS * SIDE, place / ACROSS * SIDE);
            write!(
                f,
                r#"<rect class="{tone}" x="{x}" y="{y}" width="{0}" height="{0}" rx="3"><title>{1}</title></rect>"#,
                SIDE - 3,
                Escaped(text)
            )?;
        }
        f.write_str("</svg>")
    }
}
