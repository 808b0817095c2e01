//! `/status`: how the service does, for everybody.

use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::svg::Escaped;
use crate::visit::Visit;
use crate::words::{Ago, count};
use actix_web::HttpResponse;
use api_types::{Extensible, Status, StatusFigures};
use askama::Template;
use askama::filters::HtmlSafe;
use chrono::{NaiveDate, TimeDelta};
use domain::canary::Health;
use std::fmt;

/// Days that are shown.
const DAYS: i64 = 90;
const WIDTH: i64 = 8;
const HEIGHT: i64 = 40;

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    frame: Frame,
    tone: &'static str,
    says: &'static str,
    is_known: bool,
    since: Option<Ago>,
    as_of: Ago,
    lateness: String,
    tracks: Vec<Track>,
    first: NaiveDate,
    last: NaiveDate,
}

/// A promise, and how it was kept.
struct Track {
    name: &'static str,
    what: &'static str,
    /// Of the last 24 hours.
    recent: String,
    /// Of all days that are shown.
    whole: String,
    bars: Bars,
}

/// A bar a day: class, and what it says.
struct Bars {
    bars: Vec<(&'static str, String)>,
    summary: String,
}

/// How many of how many.
type Share = fn(&StatusFigures) -> (u32, u32);

/// Its name, what it is of, and how it is computed.
const PROMISES: [(&str, &str, Share); 3] = [
    ("Availability", "submits accepted within 10 s", |seen| (seen.accepted, seen.submits)),
    ("Reach", "tasks and fires that succeeded within 60 s, in their first attempt", |seen| {
        (seen.reached, seen.due)
    }),
    ("In time", "tasks and fires that started within 10 s of when they were due", |seen| {
        (seen.on_time, seen.due)
    }),
];

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let status: Status = visit.get("/v1/status").await?;
    let (tone, says) = match status.health {
        Extensible::Known(Health::Operational) => ("good", "All is well"),
        Extensible::Known(Health::Degraded) => ("warn", "Some checks fail"),
        Extensible::Known(Health::Down) => ("bad", "All checks fail"),
        _ => ("calm", "Not known"),
    };
    let last = status.as_of.date_naive();
    let now = status.as_of;
    page(&StatusPage {
        frame: Frame::new(&visit, Section::Nowhere, "Status"),
        tone,
        says,
        is_known: tone != "calm",
        since: status.failing_since.map(|at| Ago { at, now }),
        as_of: Ago { at: now, now },
        lateness: lateness(&status.recent),
        tracks: PROMISES.into_iter().map(|promise| track(&status, last, promise)).collect(),
        first: last - TimeDelta::days(DAYS - 1),
        last,
    })
}

fn lateness(recent: &StatusFigures) -> String {
    match (recent.late_p50_ms, recent.late_p99_ms) {
        (Some(half), Some(most)) => format!(
            "In the last 24 hours half of the tasks started within {half} ms of when they were due, and 99 % within {most} ms."
        ),
        _ => "In the last 24 hours no task was seen to start.".to_owned(),
    }
}

fn track(
    status: &Status,
    last: NaiveDate,
    (name, what, share): (&'static str, &'static str, Share),
) -> Track {
    let bar = |ago: i64| {
        let day = last - TimeDelta::days(ago);
        let found = status.days.iter().find(|one| one.day == day);
        let (part, whole) = found.map_or((0, 0), |found| share(&found.figures));
        let text = match whole {
            0 => format!("{day}: not checked"),
            _ => {
                format!("{day}: {} of {}", percent(part.into(), whole.into()), count(whole.into()))
            }
        };
        (tone(part, whole), text)
    };
    let (part, whole) = status.days.iter().fold((0_u64, 0_u64), |(part, whole), day| {
        let (more_part, more_whole) = share(&day.figures);
        (part + u64::from(more_part), whole + u64::from(more_whole))
    });
    let bars: Vec<_> = (0..DAYS).rev().map(bar).collect();
    let many = |wanted: &str| bars.iter().filter(|(tone, _)| *tone == wanted).count();
    let summary = format!(
        "{name} by day: {} days of 99.9 % and more, {} of 99 % and more, {} of less, {} not checked",
        many("good"),
        many("warn"),
        many("bad"),
        many("none")
    );
    let (recent_part, recent_whole) = share(&status.recent);
    Track {
        name,
        what,
        recent: percent(recent_part.into(), recent_whole.into()),
        whole: percent(part, whole),
        bars: Bars { bars, summary },
    }
}

/// In hundredths, rounded down: 100 % is said of what had no fault.
fn percent(part: u64, whole: u64) -> String {
    match (part * 10_000).checked_div(whole) {
        None => "unknown".to_owned(),
        Some(10_000) => "100 %".to_owned(),
        Some(of) => format!("{}.{:02} %", of / 100, of % 100),
    }
}

fn tone(part: u32, whole: u32) -> &'static str {
    match (u64::from(part) * 1000).checked_div(whole.into()) {
        None => "none",
        Some(999..) => "good",
        Some(990..) => "warn",
        Some(_) => "bad",
    }
}

/// Texts are escaped below.
impl HtmlSafe for Bars {}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            r#"<svg class="chart days" viewBox="0 0 {} {HEIGHT}" role="img" aria-label="{}">"#,
            DAYS * WIDTH,
            Escaped(&self.summary)
        )?;
        for (x, (tone, text)) in (0..).step_by(8).zip(&self.bars) {
            // The form says the same as the colour: whole, three quarters, half, a stub.
            let height = match *tone {
                "good" => HEIGHT,
                "warn" => HEIGHT * 3 / 4,
                "bad" => HEIGHT / 2,
                _ => HEIGHT / 8,
            };
            write!(
                f,
                r#"<rect class="{tone}" x="{x}" y="{}" width="{}" height="{height}" rx="1"><title>{}</title></rect>"#,
                HEIGHT - height,
                WIDTH - 2,
                Escaped(text)
            )?;
        }
        f.write_str("</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_down() {
        let texts = [(0, 0), (1, 1), (9999, 10_000), (99_999, 100_000), (1, 3), (0, 5)]
            .map(|(part, whole)| percent(part, whole));
        assert_eq!(texts, ["unknown", "100 %", "99.99 %", "99.99 %", "33.33 %", "0.00 %"]);
    }

    #[test]
    fn a_day_is_coloured_by_its_share() {
        let tones = [(0, 0), (1000, 1000), (999, 1000), (998, 1000), (990, 1000), (989, 1000)]
            .map(|(part, whole)| tone(part, whole));
        assert_eq!(tones, ["none", "good", "good", "warn", "warn", "bad"]);
    }
}
