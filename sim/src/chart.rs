//! The chart of a report: distribution of waits by policy.

use crate::report::Report;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 600.0;
const BOTTOM: f64 = 370.0;
/// Waits from 1 ms to 1000 s, logarithmic.
const DECADES: i32 = 6;
const COLOURS: [&str; 5] = ["#0b6e4f", "#8a8a8a", "#c05746", "#3b6fb6", "#b08900"];

/// The chart as an SVG document.
#[must_use]
pub fn chart(report: &Report) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}: part of the tasks that waited at most so long</text>\n",
        report.scenario
    );
    for decade in 0..=DECADES {
        let wait_s = 10f64.powi(decade - 3);
        let label =
            if wait_s < 1.0 { format!("{:.0} ms", wait_s * 1e3) } else { format!("{wait_s:.0} s") };
        grid(&mut svg, (x(wait_s), TOP), (x(wait_s), BOTTOM));
        text(&mut svg, (x(wait_s), BOTTOM + 18.0), "middle", "black", &label);
    }
    for part in [0u8, 25, 50, 75, 100] {
        let height = y(f64::from(part) / 100.0);
        grid(&mut svg, (LEFT, height), (RIGHT, height));
        text(&mut svg, (LEFT - 6.0, height + 4.0), "end", "black", &format!("{part} %"));
    }
    for (number, (policy, waits)) in report.waits.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points = waits.iter().enumerate().fold(String::new(), |mut points, (part, wait)| {
            let _written = write!(points, "{:.1},{:.1} ", x(*wait), y(part as f64 / 100.0));
            points
        });
        let _written = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.trim_end()
        );
        let height = TOP + 16.0 * (number + 1) as f64;
        text(&mut svg, (RIGHT + 12.0, height), "start", colour, policy.as_str());
    }
    svg.push_str("</svg>\n");
    svg
}

fn x(wait_s: f64) -> f64 {
    let decades = (wait_s.max(1e-3).log10() + 3.0).min(f64::from(DECADES));
    LEFT + (RIGHT - LEFT) * decades / f64::from(DECADES)
}

fn y(part: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * part
}

fn grid(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _written = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>"
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, colour: &str, text: &str) {
    let (x, y) = at;
    let _written = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
    );
}
