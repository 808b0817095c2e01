//! One picture: tasks that ended in each second, and the faults below.

use super::flow::Flow;
use super::inject::Done;
use std::fmt::Write as _;

const WIDTH: f64 = 1200.0;
const PLOT: f64 = 260.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 30.0;
/// Between two lines of faults.
const ROW: f64 = 13.0;
/// About the width of a letter.
const LETTER: f64 = 5.6;

/// The picture, as SVG that needs nothing else.
pub fn svg(flow: &Flow, done: &[Done], began_ms: i64) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = draw(&mut out, flow, done, began_ms);
    out
}

fn draw(out: &mut String, flow: &Flow, done: &[Done], began_ms: i64) -> std::fmt::Result {
    let counts = flow.by_second();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let second = |ms: i64| (ms - began_ms) as f64 / 1000.0;
    let last = done.iter().map(|d| second(d.to_ms)).fold(counts.len() as f64, f64::max).max(1.0);
    let x = |seconds: f64| LEFT + seconds / last * (WIDTH - LEFT - 20.0);
    let y = |count: usize| TOP + PLOT - count as f64 / most as f64 * PLOT;
    let rows = rows(done, |d| x(second(d.from_ms)), |d| x(second(d.to_ms)));
    let height = TOP + PLOT + 40.0 + ROW * (1 + rows.iter().max().copied().unwrap_or(0)) as f64;

    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="10">"##
    )?;
    writeln!(out, r##"<rect width="100%" height="100%" fill="white"/>"##)?;
    writeln!(
        out,
        r##"<text x="{LEFT}" y="18" font-size="13">Tasks ended in each second, and what was done meanwhile</text>"##
    )?;
    for quarter in 0..=4 {
        let count = most * quarter / 4;
        let at = y(count);
        writeln!(
            out,
            r##"<line x1="{LEFT}" x2="{}" y1="{at:.1}" y2="{at:.1}" stroke="#ddd"/>"##,
            WIDTH - 20.0
        )?;
        writeln!(
            out,
            r##"<text x="{}" y="{:.1}" text-anchor="end">{count}</text>"##,
            LEFT - 6.0,
            at + 3.0
        )?;
    }
    let every = (last / 12.0).ceil().max(1.0);
    let mut tick = 0.0;
    while tick <= last {
        writeln!(
            out,
            r##"<text x="{:.1}" y="{:.1}" text-anchor="middle">{tick} s</text>"##,
            x(tick),
            TOP + PLOT + 14.0
        )?;
        tick += every;
    }
    for (done, row) in done.iter().zip(&rows) {
        let (from, to) = (x(second(done.from_ms)), x(second(done.to_ms)));
        let colour = if done.skipped.is_some() { "#bbb" } else { "#c33" };
        let under = TOP + PLOT + 30.0 + ROW * *row as f64;
        let wide = (to - from).max(1.5);
        writeln!(
            out,
            r##"<rect x="{from:.1}" y="{TOP}" width="{wide:.1}" height="{PLOT}" fill="{colour}" opacity="0.13"/>"##
        )?;
        writeln!(
            out,
            r##"<rect x="{from:.1}" y="{:.1}" width="{wide:.1}" height="8" fill="{colour}"/>"##,
            under - 7.0
        )?;
        writeln!(
            out,
            r##"<text x="{:.1}" y="{under:.1}">{}</text>"##,
            from + wide + 2.0,
            label(done)
        )?;
    }
    let points: Vec<String> = counts
        .iter()
        .enumerate()
        .map(|(at, n)| format!("{:.1},{:.1}", x(at as f64 + 0.5), y(*n)))
        .collect();
    writeln!(
        out,
        r##"<polyline points="{}" fill="none" stroke="#147" stroke-width="1.5"/>"##,
        points.join(" ")
    )?;
    writeln!(out, "</svg>")
}

fn label(done: &Done) -> String {
    let text = format!("{} {}", done.fault.kind().0, done.fault.whom());
    text.replace('>', "&gt;")
}

/// On which line each fault is written, so that no two texts lie upon each other.
fn rows(done: &[Done], from: impl Fn(&Done) -> f64, to: impl Fn(&Done) -> f64) -> Vec<usize> {
    let mut free_from: Vec<f64> = Vec::new();
    done.iter()
        .map(|done| {
            let begins = from(done);
            let ends = to(done).max(begins + 1.5) + 8.0 + LETTER * label(done).len() as f64;
            let row = free_from.iter().position(|free| *free <= begins);
            let row = row.unwrap_or_else(|| {
                free_from.push(0.0);
                free_from.len() - 1
            });
            free_from[row] = ends;
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fault::{Fault, Victim};
    use super::super::flow::Life;
    use super::*;
    use crate::Role;

    #[test]
    fn texts_do_not_lie_upon_each_other_and_the_picture_is_whole() {
        let kill = |at_ms| Done {
            fault: Fault::Kill(Victim { role: Role::Api, number: 0 }),
            from_ms: at_ms,
            to_ms: at_ms,
            skipped: None,
        };
        let done = [kill(0), kill(100), kill(60_000)];
        let at = |done: &Done| done.from_ms as f64 / 100.0;
        assert_eq!(rows(&done, at, at), [0, 1, 0]);
        let lives = vec![Life { created_ms: 0, due_ms: 0, ended_ms: 500 }];
        let picture = svg(&Flow::of(lives, 0), &done, 0);
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert_eq!(picture.matches("kill api-0").count(), 3);
    }
}
