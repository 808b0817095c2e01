//! `bench/report/results.svg`: throughput, compared with the engines alone.

use super::Results;
use std::fmt::Write as _;

/// A figure, what it is called, and its raw twin.
const BARS: [(&str, &str, Option<&str>); 5] = [
    ("batch_submit_per_s", "submits, 1000 a batch", Some("raw_batch_submit_per_s")),
    ("single_submit_per_s", "submits, one by one", Some("raw_single_submit_per_s")),
    ("drain_per_s", "tasks run, all waiting", Some("raw_drain_per_s")),
    ("end_to_end_per_s", "one by one, and run", None),
    ("commands_per_s", "commands that start a process", Some("raw_commands_per_s")),
];
const WIDTH: f64 = 860.0;
const LEFT: f64 = 210.0;
const TOP: f64 = 50.0;
const ROW: f64 = 48.0;
const RIGHT: f64 = 640.0;
/// From 100 a second to a million, each step ten times the one before.
const FIRST_DECADE: f64 = 2.0;
const DECADES: f64 = 4.0;

/// The chart as an SVG document, of the medians there are.
pub(super) fn svg(results: &Results) -> String {
    let median = |key: &str| results.figures.get(key).and_then(|figure| figure.median);
    let height = TOP + ROW * BARS.len() as f64 + 40.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\">A second, on {} cores: Berth, and the engines alone (grey)</text>\n",
        results.machine.cores
    );
    let bottom = TOP + ROW * BARS.len() as f64;
    for decade in 0..=DECADES as i32 {
        let rate = 10f64.powf(FIRST_DECADE + f64::from(decade));
        let at = x(rate);
        let _written = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{rate:.0}</text>",
            bottom + 18.0
        );
    }
    for (at, (key, name, raw)) in BARS.into_iter().enumerate() {
        let y = TOP + ROW * at as f64 + 6.0;
        let _written = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT - 10.0,
            y + 20.0
        );
        if let Some(rate) = median(key) {
            bar(&mut out, (y, 18.0), "#0b6e4f", rate);
        }
        if let Some(rate) = raw.and_then(median) {
            bar(&mut out, (y + 20.0, 12.0), "#aaa", rate);
        }
    }
    out.push_str("</svg>\n");
    out
}

fn x(rate: f64) -> f64 {
    let decades = (rate.max(1.0).log10() - FIRST_DECADE).clamp(0.0, DECADES);
    LEFT + (RIGHT - LEFT) * decades / DECADES
}

fn bar(out: &mut String, (y, height): (f64, f64), colour: &str, rate: f64) {
    let _written = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height}\" fill=\"{colour}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\">{rate:.0}</text>",
        x(rate) - LEFT,
        x(rate) + 6.0,
        y + height - 3.0
    );
}
