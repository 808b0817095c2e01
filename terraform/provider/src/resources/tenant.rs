//! `berth_tenant`. Deleting one ends all that it has, so it is protected unless the configuration says otherwise.

use super::{NO_VERSION, answer, existing, plan, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given};
use crate::value::{Path, Value};
use api_types::request::TenantPut;
use domain::id::{PlanName, TenantId};
use domain::tenant::TenantState;
use serde_json::Value as Json;

/// A tenant.
pub struct Tenant;

/// The attribute `tenant` of what operators keep for a tenant.
pub fn of_tenant() -> Attribute {
    Attribute::text(
        "tenant",
        Given::Optional,
        "Id of the tenant; then `operator_key` is used. Default: the tenant of `api_key`.",
    )
    .form(Form::Parsed(id))
    .local()
    .replaces()
}

/// The id of a tenant, as it is written.
pub fn id(text: &str) -> Result<String, String> {
    text.parse::<TenantId>()
        .map(|id| id.to_string())
        .map_err(|_| "must be the id of a tenant: tenant_ and 32 hex digits".to_owned())
}

/// The id in an attribute, if it has one.
pub fn id_in(value: &Value, attribute: &str) -> Result<Option<TenantId>, Problem> {
    match value.get(attribute) {
        Value::Text(text) => text.parse().map(Some).map_err(|_| {
            Problem::at(attribute, "Not the id of a tenant", "It is tenant_ and 32 hex digits.")
        }),
        _ => Ok(None),
    }
}

fn name(state: &Value) -> &str {
    state.get("name").text().unwrap_or_default()
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let plan = planned.get("plan").text().unwrap_or_default();
    let tenant = TenantPut {
        plan: plan
            .parse()
            .map_err(|error| Problem::at("plan", "Not a name of a plan", format!("{error}")))?,
        weight: planned.get("weight").number(),
        state: Some(match planned.get("state").text() {
            Some("suspended") => TenantState::Suspended,
            _ => TenantState::Active,
        }),
    };
    answer(&berth.operator()?.put_tenant(name(planned), &tenant, version).await?)
}

impl Resource for Tenant {
    fn name(&self) -> &'static str {
        "berth_tenant"
    }

    fn text(&self) -> &'static str {
        "A tenant: a customer. Deleting one cancels its tasks, voids its keys and, after the grace of the installation, purges its data; \
         until then its name is taken. It is moved to the plan `default` first, so that its plan can be deleted in the same run. Needs \
         `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("name", Given::Required, "Its name. Case and spaces do not distinguish names.")
                .form(Form::TenantName)
                .replaces(),
            Attribute::text("plan", Given::Default("default".into()), "Its plan.")
                .form(Form::Parsed(plan::name)),
            Attribute::number("weight", Given::Optional, "Scheduling weight, more than 0, up to 1000. Default: the plan's."),
            Attribute::text("state", Given::Default("active".into()), "`active` or `suspended`.")
                .form(Form::Words(&["active", "suspended"])),
            Attribute::switch(
                "deletion_protection",
                Given::Default(true.into()),
                "Whether Terraform refuses to delete it, and to replace it. To delete it, set this to false and apply first.",
            )
            .local(),
            Attribute::text("id", Given::Fixed, "Its id: `tenant_` and 32 hex digits."),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When it was created."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "acme"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(match id.parse::<TenantId>() {
            Ok(_) => Value::from([("id", id.into())]),
            Err(_) => Value::from([("name", id.into())]),
        })
    }

    fn check_delete(&self, prior: &Value) -> Result<(), Problem> {
        if !prior.get("deletion_protection").is_true() {
            return Ok(());
        }
        Err(Problem::Said {
            path: Some(Path::of("deletion_protection")),
            summary: format!("The tenant {} is protected", name(prior)),
            detail: "A deleted tenant does not come back. To delete or replace it, set deletion_protection = false, apply, and then \
                     delete it."
                .to_owned(),
        })
    }

    fn check<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move { put(berth, planned, NO_VERSION).await.map(drop) })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move {
            let client = berth.operator()?;
            let tenant = match id_in(state, "id")? {
                Some(id) => client.tenant(id).await,
                None => client.tenant_named(name(state)).await,
            };
            let tenant = existing(tenant)?;
            Ok(tenant.filter(|tenant| tenant["state"] != "deleted"))
        })
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
            let Some(id) = id_in(prior, "id")? else { return Ok(()) };
            let client = berth.operator()?;
            // A deleted tenant holds its plan until it is purged: its plan could not be deleted in the same run. Where there is no plan
            // `default`, it stays.
            if prior.get("plan").text() != Some(PlanName::default().as_str()) {
                match client.change_tenant(id, Some(&PlanName::default()), None).await {
                    Err(error) if error.api().is_none() => return Err(error.into()),
                    _ => {}
                }
            }
            client.delete_tenant(id).await?;
            Ok(())
        })
    }
}
