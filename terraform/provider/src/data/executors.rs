//! `berth_executors`.

use crate::provider::{Answer, Berth, DataSource, Problem};
use crate::resources::{answer, pool};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::Value;
use api_types::PageRequest;
use domain::id::PoolName;
use serde_json::{Value as Json, json};

/// The connected executors.
pub struct Executors;

fn amounts() -> Vec<Attribute> {
    pool::DIMENSIONS
        .iter()
        .map(|(name, text)| Attribute::number(name, Given::Fixed, *text))
        .collect()
}

impl DataSource for Executors {
    fn name(&self) -> &'static str {
        "berth_executors"
    }

    fn text(&self) -> &'static str {
        "The connected executors. Needs `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let text = |name, text: &str| Attribute::text(name, Given::Fixed, text);
        let executor = vec![
            text("id", "Its name."),
            text("pool", "Its pool."),
            text("version", "Version of its program."),
            text("started_at", "When its session began."),
            Attribute::switch("draining", Given::Fixed, "Whether it only finishes what runs."),
            text("quarantined_at", "Since when it gets single tasks on trial only."),
            Attribute::number("running", Given::Fixed, "Attempts that run on it."),
            Attribute::new("capacity", Kind::Object(amounts()), Given::Fixed, "What it has."),
            Attribute::new("free", Kind::Object(amounts()), Given::Fixed, "What is left of it."),
        ];
        vec![
            Attribute::text("pool", Given::Optional, "Only those of this pool.")
                .form(Form::Parsed(pool::name))
                .local(),
            Attribute::new(
                "executors",
                Kind::Objects(executor),
                Given::Fixed,
                "The executors, by name.",
            ),
        ]
    }

    fn read<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            let pool: Option<PoolName> =
                config.get("pool").text().map(str::parse).transpose().map_err(|error| {
                    Problem::at("pool", "Not a name of a pool", format!("{error}"))
                })?;
            let mut page = PageRequest { limit: Some(api_types::MAX_LIMIT), cursor: None };
            let mut executors = Vec::new();
            loop {
                let found = berth.operator()?.executors(pool.as_ref(), &page).await?;
                if let Json::Array(rows) = answer(&found)?["data"].take() {
                    executors.extend(rows);
                }
                match found.next(&page) {
                    Some(next) => page = next,
                    None => return Ok(json!({"executors": executors})),
                }
            }
        })
    }
}
