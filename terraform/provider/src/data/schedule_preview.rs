//! `berth_schedule_preview`: the next due times, for `check` blocks.

use crate::provider::{Answer, Berth, DataSource, Problem};
use crate::resources::{answer, timing};
use crate::schema::{Attribute, Given, Kind};
use crate::value::Value;
use api_types::request::Timing;
use domain::time::parse_time;
use serde_json::Value as Json;

/// When a schedule, or a timing, is due.
pub struct SchedulePreview;

impl DataSource for SchedulePreview {
    fn name(&self) -> &'static str {
        "berth_schedule_preview"
    }

    fn text(&self) -> &'static str {
        "The next due times of a schedule, or of a timing as if a schedule with it were made now. Needs `api_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let due = vec![
            Attribute::text("at", Given::Fixed, "When, UTC."),
            Attribute::text("local", Given::Fixed, "Local time in the zone."),
            Attribute::text("abbreviation", Given::Fixed, "Abbreviation of the zone's time."),
            Attribute::new(
                "marks",
                Kind::Texts,
                Given::Fixed,
                "How a clock change affects it (docs/time.md).",
            ),
        ];
        vec![
            Attribute::text("schedule", Given::Optional, "Name of a schedule; or `timing`.")
                .local(),
            Attribute::new(
                "timing",
                Kind::Object(timing::timing()),
                Given::Optional,
                "A timing; or `schedule`.",
            )
            .local(),
            Attribute::number("times", Given::Optional, "How many, 1 to 999. Default: 10.").local(),
            Attribute::time("from", Given::Optional, "After this time. Default: now.").local(),
            Attribute::text("zone", Given::Fixed, "The time zone."),
            Attribute::new("due", Kind::Objects(due), Given::Fixed, "The due times, in order."),
            Attribute::switch("more", Given::Fixed, "Whether there may be more after these."),
        ]
    }

    fn read<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            let client = berth.tenant()?;
            let count = config.get("times").whole().and_then(|times| u32::try_from(times).ok());
            let from = config
                .get("from")
                .text()
                .map(parse_time)
                .transpose()
                .map_err(|error| Problem::at("from", "Not a time", error.to_string()))?;
            let preview = match (config.get("schedule").text(), config.get("timing")) {
                (Some(name), Value::Null) => client.preview_schedule(name, count, from).await?,
                (None, Value::Map(_)) => {
                    let timing = timing::request(config.get("timing"));
                    let timing = serde_json::from_value::<Timing>(timing).map_err(|error| {
                        Problem::at("timing", "Not a timing", error.to_string())
                    })?;
                    client.preview_timing(timing, count, from).await?
                }
                _ => {
                    return Err(Problem::at(
                        "schedule",
                        "Which times?",
                        "Give either `schedule` or `timing`.",
                    ));
                }
            };
            answer(&preview)
        })
    }
}
