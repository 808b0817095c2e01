//! Charts as SVG, made here: sizes and classes alone, so that the policy of the pages allows them.

use askama::filters::HtmlSafe;
use std::fmt;

/// One bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it stands for: shown below it where there is room, and under the pointer.
    pub label: String,
    /// Its value in words.
    pub text: String,
    /// Its height.
    pub value: i64,
}

/// Bars from left to right.
#[derive(Debug, Clone)]
pub(crate) struct Bars {
    /// What the chart says in a sentence, for those who do not see it.
    pub title: String,
    pub bars: Vec<Bar>,
    /// The largest value in words.
    pub most: String,
}

const WIDTH: usize = 720;
const HEIGHT: usize = 150;
const TOP: usize = 16;
const BOTTOM: usize = 20;

/// Texts are escaped below.
impl HtmlSafe for Bars {}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.bars.len().max(1);
        let most = self.bars.iter().map(|bar| bar.value).max().unwrap_or_default().max(1);
        let room = HEIGHT - TOP - BOTTOM;
        write!(
            f,
            r#"<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}">"#,
            Escaped(&self.title)
        )?;
        let base = HEIGHT - BOTTOM;
        write!(
            f,
            r#"<line class="rule" x1="0" y1="{TOP}" x2="{WIDTH}" y2="{TOP}"/><line class="rule" x1="0" y1="{base}" x2="{WIDTH}" y2="{base}"/>"#
        )?;
        write!(f, r#"<text x="0" y="{}">{}</text>"#, TOP - 5, Escaped(&self.most))?;
        let every = count.div_ceil(8);
        for (place, bar) in self.bars.iter().enumerate() {
            let (left, right) = (place * WIDTH / count, (place + 1) * WIDTH / count);
            let gap = ((right - left) / 6).max(1);
            let width = (right - left).saturating_sub(gap).max(1);
            let value = u128::try_from(bar.value).unwrap_or_default();
            let most = u128::try_from(most).unwrap_or(1);
            let height = usize::try_from(value * room as u128 / most).unwrap_or(room);
            let height = if value > 0 { height.max(2) } else { 0 };
            write!(
                f,
                r#"<rect class="bar" x="{left}" y="{}" width="{width}" height="{height}" rx="2"><title>{}: {}</title></rect>"#,
                base - height,
                Escaped(&bar.label),
                Escaped(&bar.text)
            )?;
            if place % every == 0 {
                write!(f, r#"<text x="{left}" y="{}">{}</text>"#, HEIGHT - 5, Escaped(&bar.label))?;
            }
        }
        f.write_str("</svg>")
    }
}

/// How full something is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauge(pub u64);

/// Made of digits.
impl HtmlSafe for Gauge {}

impl fmt::Display for Gauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0.min(100);
        let class = match percent {
            0..80 => "bar",
            80..100 => "near",
            _ => "full",
        };
        write!(
            f,
            r#"<svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="back" width="100" height="8"/><rect class="{class}" width="{percent}" height="8"/></svg>"#
        )
    }
}

/// A text in markup or in an attribute.
pub(crate) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_chart_are_never_markup_and_nothing_has_a_style() {
        let evil = "<script>alert(1)</script>\"'";
        let bar = |value| Bar { label: evil.to_owned(), text: evil.to_owned(), value };
        let bars = Bars {
            title: evil.to_owned(),
            bars: vec![bar(0), bar(-1), bar(i64::MAX)],
            most: evil.to_owned(),
        };
        let svg = bars.to_string();
        assert!(!svg.contains("<script") && !svg.contains("style="), "{svg}");
        assert!(svg.matches("<rect").count() == 3 && svg.ends_with("</svg>"));
        assert!(Gauge(250).to_string().contains("width=\"100\" height=\"8\"/></svg>"));
    }
}
