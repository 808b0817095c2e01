//! `berth_tenant_billing`. Each tenant has it from its creation, so none is created or deleted: it is set, and set back to its defaults.

use super::{answer, existing, tenant};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given};
use crate::value::Value;
use api_types::request::TenantBillingPut;
use domain::id::TenantId;
use domain::invoice::BillingZone;
use serde_json::Value as Json;

/// How a tenant is billed.
pub struct TenantBilling;

fn zone(text: &str) -> Result<String, String> {
    text.parse::<BillingZone>().map(|zone| zone.to_string()).map_err(|error| error.to_string())
}

fn customer(text: &str) -> Result<String, String> {
    visible(text, 255, false)
}

fn address(text: &str) -> Result<String, String> {
    visible(text, 1000, true)
}

fn visible(text: &str, most: usize, lines: bool) -> Result<String, String> {
    let control = |c: char| c.is_control() && !(lines && c == '\n');
    if (1..=most).contains(&text.chars().count()) && !text.chars().any(control) {
        return Ok(text.to_owned());
    }
    Err(format!("must be 1 to {most} visible characters"))
}

fn tenant_of(value: &Value) -> Result<TenantId, Problem> {
    tenant::id_in(value, "tenant")?
        .ok_or_else(|| Problem::at("tenant", "No tenant", "It is the id of a tenant."))
}

fn request(planned: &Value) -> TenantBillingPut {
    let text = |name| planned.get(name).text().map(str::to_owned);
    // As the API writes it.
    let zone = text("zone").map(|text| zone(&text).unwrap_or(text));
    TenantBillingPut { zone, customer: text("customer"), address: text("address") }
}

/// What is stored, as it would be sent.
fn request_of(stored: &Json) -> TenantBillingPut {
    let text = |name: &str| stored[name].as_str().map(str::to_owned);
    TenantBillingPut { zone: text("zone"), customer: text("customer"), address: text("address") }
}

async fn put(berth: &Berth, tenant: TenantId, billing: &TenantBillingPut) -> Result<Json, Problem> {
    answer(&berth.operator()?.put_tenant_billing(tenant, billing).await?)
}

/// A deleted tenant has none to change: what it has holds for its last invoices.
async fn stored(berth: &Berth, state: &Value) -> Result<Option<Json>, Problem> {
    let (client, id) = (berth.operator()?, tenant_of(state)?);
    match existing(client.tenant(id).await)? {
        Some(tenant) if tenant["state"] != "deleted" => existing(client.tenant_billing(id).await),
        _ => Ok(None),
    }
}

/// Whether `billing` is that of a new tenant.
fn is_default(billing: &TenantBillingPut) -> bool {
    let zone = Some(BillingZone::default().to_string());
    *billing == TenantBillingPut { zone, ..TenantBillingPut::default() }
}

impl Resource for TenantBilling {
    fn name(&self) -> &'static str {
        "berth_tenant_billing"
    }

    fn text(&self) -> &'static str {
        "How a tenant is billed. Each tenant has one; this sets it. Destroying it puts the defaults back: zone UTC, no customer, no \
         address, and the months that are not final yet are billed so. To keep it, take it out of the state with `removed { from = ..., \
         lifecycle { destroy = false } }`. Of a tenant that is deleted already nothing changes. Needs `operator_key`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text("tenant", Given::Required, "Id of the tenant.")
                .form(Form::Parsed(tenant::id))
                .local()
                .replaces(),
            Attribute::text(
                "zone",
                Given::Default("UTC".into()),
                "Time zone of its months, such as `Europe/Berlin`. Another one moves the end of the month that is billed next, and not its \
                 beginning.",
            )
            .form(Form::Parsed(zone)),
            Attribute::text(
                "customer",
                Given::Optional,
                "Its name at a billing provider, 1 to 255 characters. Default: none, and its id stands for it.",
            )
            .form(Form::Parsed(customer)),
            Attribute::text(
                "address",
                Given::Optional,
                "Its address on invoices, in lines, 1 to 1000 characters. Default: none.",
            )
            .form(Form::Parsed(address)),
        ]
    }

    fn import_example(&self) -> &'static str {
        "tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(Value::from([("tenant", tenant::id(id)?.as_str().into())]))
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(async move {
            // The API has no versions of it.
            let wanted = request(planned);
            let before = stored(berth, planned).await?.map(|found| request_of(&found));
            match before {
                Some(before) if !is_default(&before) && before != wanted => Err(Problem::at(
                    "tenant",
                    "It is set already how this tenant is billed",
                    "Import it, and plan the difference.",
                )),
                _ => put(berth, tenant_of(planned)?, &wanted).await,
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
        Box::pin(async move { put(berth, tenant_of(planned)?, &request(planned)).await })
    }

    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()> {
        Box::pin(async move {
            if stored(berth, prior).await?.is_some() {
                put(berth, tenant_of(prior)?, &TenantBillingPut::default()).await?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{check, planned, state};
    use crate::value::{Path, from_json};
    use serde_json::json;

    fn config(fields: Json) -> Value {
        let mut config = fields;
        config["tenant"] = json!(TenantBilling.import_example());
        crate::schema::fitted(&TenantBilling.attributes(), from_json(&config))
    }

    #[test]
    fn what_is_not_given_has_its_default_and_another_case_of_a_zone_is_no_change() {
        let attributes = TenantBilling.attributes();
        let plan = planned(&attributes, &Value::Null, &config(json!({})));
        assert_eq!(request(&plan.value).zone.as_deref(), Some("UTC"));
        let stored = json!({"zone": "UTC", "customer": null, "address": null});
        assert!(is_default(&request_of(&stored)));
        let after = state(&attributes, &plan.value, &stored);
        let other_case = config(json!({"zone": "utc"}));
        assert!(!planned(&attributes, &after, &other_case).changes);
        assert_eq!(request(&other_case), request_of(&stored));
        let lines = json!({"zone": "Asia/Tokyo", "address": "Hafenstr. 1\nHamburg\n"});
        let plan = planned(&attributes, &after, &config(lines));
        assert!(plan.changes && plan.replaces.is_empty(), "{plan:?}");
        assert_eq!(request(&plan.value).address.as_deref(), Some("Hafenstr. 1\nHamburg\n"));
    }

    #[test]
    fn what_is_no_zone_customer_or_address_is_found_where_it_is() {
        let wrong = json!({"zone": "Berlin", "customer": "a\nb", "address": ""});
        let found = check(&TenantBilling.attributes(), &config(wrong));
        let places = found.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(places, ["zone", "customer", "address"].map(Path::of));
    }
}
