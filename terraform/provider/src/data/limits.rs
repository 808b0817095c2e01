//! `berth_limits`.

use crate::provider::{Answer, Berth, DataSource};
use crate::resources::answer;
use crate::schema::{Attribute, Given, Kind};
use crate::value::Value;
use serde_json::Value as Json;

/// The limits of a tenant, and their use.
pub struct Limits;

impl DataSource for Limits {
    fn name(&self) -> &'static str {
        "berth_limits"
    }

    fn text(&self) -> &'static str {
        "The limits of the tenant of `api_key`, and what is used of them."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let text = |name, text: &str| Attribute::text(name, Given::Fixed, text);
        let number = |name, text: &str| Attribute::number(name, Given::Fixed, text);
        let list = |name, kind, text: &str| Attribute::new(name, kind, Given::Fixed, text);
        let rates = vec![
            text("name", "Its name."),
            number("limit", "Tasks that may be submitted at once, or in the hour."),
            number("used", "Tasks used."),
            number("left", "Tasks left."),
        ];
        let quotas = vec![
            text("name", "Its name."),
            number("limit", "What the plan allows."),
            number("used", "What is used."),
        ];
        vec![
            text("plan", "The plan."),
            text("state", "`active` or `suspended`."),
            number("submits_per_second", "Tasks submitted per second."),
            number("submit_burst", "Burst of submitted tasks."),
            number("submits_per_hour", "Tasks submitted per hour; 0: no limit."),
            number("payload_bytes", "Largest body of one task, bytes."),
            number("retention_days", "Days for which finished tasks are shown."),
            number("weight", "Scheduling weight."),
            Attribute::switch("flexible", Given::Fixed, "Whether tasks are flexible by default."),
            list("rates", Kind::Objects(rates), "Rates of submits."),
            list("quotas", Kind::Objects(quotas), "Quotas."),
        ]
    }

    fn read<'a>(&'a self, berth: &'a Berth, _config: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move { answer(&berth.tenant()?.limits().await?) })
    }
}
