//! `berth_api_key`.

use super::keys::{Keys, Wanted, adjust, attributes};
use super::tenant::{id_in, of_tenant};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given, Kind, Outcome};
use crate::value::Value;
use serde_json::Value as Json;

/// A key of a tenant.
pub struct ApiKey;

/// The scopes.
pub fn scopes() -> Attribute {
    let text = "`read`, `submit`, `approve`, `admin`; none includes another.";
    Attribute::new("scopes", Kind::TextSet, Given::Required, text)
        .form(Form::Words(&["read", "submit", "approve", "admin"]))
}

/// The keys of the tenant in `value`.
pub fn keys<'a>(berth: &'a Berth, value: &Value) -> Result<Keys<'a>, Problem> {
    Ok(match id_in(value, "tenant")? {
        Some(tenant) => Keys::Tenant(berth.operator()?, tenant),
        None => Keys::Own(berth.tenant()?),
    })
}

impl Resource for ApiKey {
    fn name(&self) -> &'static str {
        "berth_api_key"
    }

    fn text(&self) -> &'static str {
        "A key of a tenant. Its text is in no state and no plan: the ephemeral resource `berth_new_secret` gives it in the apply that made \
         it, for a store of secrets. Deleting it revokes it. With `tenant` it needs `operator_key`, else `api_key` with the scope `admin`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        let mut all = vec![of_tenant()];
        all.extend(attributes(scopes()));
        all
    }

    fn import_example(&self) -> &'static str {
        "tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071/abcdefghijkl"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(match id.split_once('/') {
            Some((tenant, id)) => Value::from([("tenant", tenant.into()), ("id", id.into())]),
            None => Value::from([("id", id.into())]),
        })
    }

    fn adjust(&self, prior: &Value, _config: &Value, outcome: &mut Outcome) {
        adjust(prior, outcome);
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            let key = keys(berth, planned)?.create_named(berth, &Wanted::read(planned)).await?;
            Ok(key.json())
        })
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move { keys(berth, state)?.read(state).await })
    }

    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json> {
        Box::pin(async move { keys(berth, prior)?.update(berth, prior, planned).await })
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { keys(berth, prior)?.delete(prior).await })
    }
}
