//! `berth_usage`.

use crate::provider::{Answer, Berth, DataSource, Problem};
use crate::resources::answer;
use crate::schema::{Attribute, Given, Kind};
use crate::value::Value;
use chrono::NaiveDate;
use client::CostsQuery;
use serde_json::Value as Json;

/// What a tenant used.
pub struct Usage;

fn amounts() -> Vec<Attribute> {
    let number = |name, text: &str| Attribute::number(name, Given::Fixed, text);
    vec![
        number("attempts", "Attempts that ended."),
        number("charged_attempts", "Billed attempts."),
        number("run_ms", "Billed time in ms."),
        number("cpu_millis_ms", "Sum of thousandths of a core x ms."),
        number("memory_mib_ms", "Sum of MiB x ms."),
    ]
}

fn day(config: &Value, name: &str) -> Result<Option<NaiveDate>, Problem> {
    let text = config.get(name).text();
    text.map(str::parse)
        .transpose()
        .map_err(|_| Problem::at(name, "Not a day", "It is a date such as 2027-01-31."))
}

impl DataSource for Usage {
    fn name(&self) -> &'static str {
        "berth_usage"
    }

    fn text(&self) -> &'static str {
        "What the tenant of `api_key` used, by day and tier."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let mut rows = vec![
            Attribute::text("day", Given::Fixed, "The day, UTC."),
            Attribute::text(
                "tier",
                Given::Fixed,
                "Null for tasks with resources instead of a tier.",
            ),
        ];
        rows.extend(amounts());
        vec![
            Attribute::text(
                "from",
                Given::OrServer,
                "First day. Default: the first of this month.",
            ),
            Attribute::text("to", Given::OrServer, "Last day. Default: the last of this month."),
            Attribute::new(
                "data",
                Kind::Objects(rows),
                Given::Fixed,
                "A row for each day and tier with usage.",
            ),
            Attribute::new("total", Kind::Object(amounts()), Given::Fixed, "The sums."),
        ]
    }

    fn read<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            let (from, to) = (day(config, "from")?, day(config, "to")?);
            let query = CostsQuery { from, to, ..CostsQuery::default() };
            answer(&berth.tenant()?.usage(&query).await?)
        })
    }
}
