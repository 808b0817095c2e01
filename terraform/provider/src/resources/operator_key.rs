//! `berth_operator_key`.

use super::keys::{Keys, Wanted, adjust, attributes};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind, Outcome};
use crate::value::Value;
use serde_json::Value as Json;

/// A key of an operator.
pub struct OperatorKey;

fn keys(berth: &Berth) -> Result<Keys<'_>, Problem> {
    Ok(Keys::Operator(berth.operator()?))
}

impl Resource for OperatorKey {
    fn name(&self) -> &'static str {
        "berth_operator_key"
    }

    fn text(&self) -> &'static str {
        "A key of an operator. Its text is in no state and no plan: the ephemeral resource `berth_new_secret` gives it in the apply that \
         made it, for a store of secrets. Deleting it revokes it. Needs `operator_key` with the scope `admin` and the scopes granted."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let text = "`read`, `admin`; neither includes the other.";
        attributes(
            Attribute::new("scopes", Kind::TextSet, Given::Required, text)
                .form(Form::Words(&["read", "admin", "report"])),
        )
    }

    fn import_example(&self) -> &'static str {
        "abcdefghijkl"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("id", id.into())]))
    }

    fn adjust(&self, prior: &Value, _config: &Value, outcome: &mut Outcome) {
        adjust(prior, outcome);
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            let key = keys(berth)?.create_named(berth, &Wanted::read(planned)).await?;
            Ok(key.json())
        })
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move { keys(berth)?.read(state).await })
    }

    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json> {
        Box::pin(async move { keys(berth)?.update(berth, prior, planned).await })
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { keys(berth)?.delete(prior).await })
    }
}
