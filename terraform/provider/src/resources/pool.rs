//! `berth_pool`.

use super::{NO_VERSION, answer, existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind};
use crate::value::{Value, to_json};
use api_types::request::PoolPut;
use domain::id::PoolName;
use serde_json::Value as Json;

/// A pool.
pub struct Pool;

/// The fields that are stored.
const STORED: [&str; 4] = ["command_network", "private_targets", "max_executor", "granted_to"];

/// The dimensions of an executor.
pub const DIMENSIONS: [(&str, &str); 5] = [
    ("cpu_millis", "Thousandths of a core."),
    ("memory_mib", "MiB of memory."),
    ("disk_mib", "MiB of disk."),
    ("iops", "Disk operations per second."),
    ("ports", "TCP ports."),
];

/// A name in a path of the API.
pub fn name(text: &str) -> Result<String, String> {
    text.parse::<PoolName>().map(|name| name.to_string()).map_err(|error| error.to_string())
}

fn named(value: &Value) -> Result<PoolName, Problem> {
    let text = value.get("name").text().unwrap_or_default();
    text.parse().map_err(|error| Problem::at("name", "Not a name of a pool", format!("{error}")))
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let fields = STORED.iter().map(|name| ((*name).to_owned(), planned.get(name).clone()));
    let body = to_json(&Value::Map(fields.collect()));
    let settings = serde_json::from_value::<PoolPut>(body).map_err(|error| Problem::Said {
        path: None,
        summary: "These settings are no pool's".to_owned(),
        detail: error.to_string(),
    })?;
    answer(&berth.operator()?.put_pool(&named(planned)?, &settings, version).await?)
}

impl Resource for Pool {
    fn name(&self) -> &'static str {
        "berth_pool"
    }

    fn text(&self) -> &'static str {
        "A pool of executors: what its tasks may do, and who may use it. A pool with executors or live tasks cannot be deleted. A pause is \
         left as it is. Needs `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let most = DIMENSIONS
            .iter()
            .map(|(name, text)| Attribute::number(name, Given::Optional, *text))
            .collect();
        let set = |name, text| Attribute::list(name, Kind::TextSet, text);
        let granted = vec![
            Attribute::switch(
                "everyone",
                Given::Default(false.into()),
                "Every tenant, also future ones.",
            ),
            set("plans", "The tenants on these plans."),
            set("tenants", "The tenants with these ids."),
        ];
        vec![
            Attribute::text("name", Given::Required, "Its name.")
                .form(Form::Parsed(name))
                .replaces(),
            Attribute::switch(
                "command_network",
                Given::Default(false.into()),
                "Whether commands can use the network.",
            ),
            Attribute::switch(
                "private_targets",
                Given::Default(false.into()),
                "Whether HTTP tasks can call private, loopback and link-local addresses.",
            ),
            Attribute::defaults(
                "max_executor",
                most,
                "Largest capacity of one executor. Default: no limit.",
            ),
            Attribute::defaults("granted_to", granted, "Who may use it. Default: no tenant."),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "inner"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("name", name(id)?.as_str().into())]))
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { put(berth, planned, NO_VERSION).await.map(drop) })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move { existing(berth.operator()?.pool(&named(state)?).await) })
    }

    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, version(prior)))
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            berth.operator()?.delete_pool(&named(prior)?, version(prior)).await?;
            Ok(())
        })
    }
}
