//! `berth_concurrency_limit`.

use super::{answer, existing};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Given};
use crate::value::Value;
use serde_json::Value as Json;

/// A limit of a concurrency key.
pub struct ConcurrencyLimit;

fn key(state: &Value) -> &str {
    state.get("key").text().unwrap_or_default()
}

async fn put(berth: &Berth, planned: &Value) -> Result<Json, Problem> {
    let running = planned.get("running").whole().and_then(|number| u32::try_from(number).ok());
    let running = running.ok_or_else(|| {
        Problem::at("running", "Not a limit", "It is a whole number from 0 to 1000000.")
    })?;
    answer(&berth.tenant()?.set_concurrency_limit(key(planned), running).await?)
}

/// Without one a key has the limit 1, which the API shows as not stored.
async fn stored(berth: &Berth, state: &Value) -> Result<Option<Json>, Problem> {
    let limit = existing(berth.tenant()?.concurrency_limit(key(state)).await)?;
    Ok(limit.filter(|limit| limit["stored"] == true))
}

impl Resource for ConcurrencyLimit {
    fn name(&self) -> &'static str {
        "berth_concurrency_limit"
    }

    fn text(&self) -> &'static str {
        "How many of a tenant's tasks with a concurrency key run at a time. Needs `api_key` with the scope `submit`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("key", Given::Required, "The key: 1 to 200 characters.").replaces(),
            Attribute::number(
                "running",
                Given::Required,
                "Tasks queued, running or cancelling, 0 to 1000000; 0: none starts.",
            ),
            Attribute::text("updated_at", Given::Server, "When it was last changed."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "printer"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("key", id.into())]))
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            // The API has no versions of limits.
            match stored(berth, planned).await? {
                Some(found) if planned.get("running").whole() != found["running"].as_u64() => {
                    Err(Problem::at(
                        "key",
                        "The key has a limit already",
                        format!("It is {}. Import it, and plan the difference.", found["running"]),
                    ))
                }
                _ => put(berth, planned).await,
            }
        })
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(stored(berth, state))
    }

    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        _prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json> {
        Box::pin(put(berth, planned))
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            berth.tenant()?.delete_concurrency_limit(key(prior)).await?;
            Ok(())
        })
    }
}
