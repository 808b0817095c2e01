//! `berth_user`. The invitation's token is never stored; `berth_new_secret` gives it in the apply that made it.

use super::tenant::{id_in, of_tenant};
use super::{existing, version};
use crate::provider::{Answer, Berth, Problem, Resource};
use crate::schema::{Attribute, Form, Given};
use crate::value::Value;
use api_types::NewUser;
use client::ApiResponse;
use domain::access::Role;
use serde_json::Value as Json;

/// A user of a tenant.
pub struct User;

const ROLES: &[&str] = &["owner", "admin", "developer", "billing", "viewer"];

fn email(state: &Value) -> &str {
    state.get("email").text().unwrap_or_default()
}

async fn put(berth: &Berth, planned: &Value, version: Option<i64>) -> Result<Json, Problem> {
    let role = planned.get("role").text().unwrap_or_default();
    let role: Role =
        role.parse().map_err(|error| Problem::at("role", "Not a role", format!("{error}")))?;
    let stored: ApiResponse<NewUser> = match id_in(planned, "tenant")? {
        Some(tenant) => {
            berth.operator()?.put_tenant_user(tenant, email(planned), role, version).await?
        }
        None => berth.tenant()?.put_user(email(planned), role, version).await?,
    };
    let NewUser { info, invite_token } = stored.into_value();
    berth.keep(&info.id.to_string(), invite_token.map(Into::into));
    // Of the user alone: the token is in no state.
    serde_json::to_value(&info).map_err(|error| Problem::Said {
        path: None,
        summary: "The answer cannot be read".to_owned(),
        detail: error.to_string(),
    })
}

impl Resource for User {
    fn name(&self) -> &'static str {
        "berth_user"
    }

    fn text(&self) -> &'static str {
        "A user of a tenant. Who is new is invited; the token of the invitation is in no state, and `berth_new_secret` gives it in the \
         apply that invites. A tenant keeps its last owner. With `tenant` it needs `operator_key`, else `api_key` with the scope `admin`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            of_tenant(),
            Attribute::text("email", Given::Required, "Address. Case does not count.")
                .form(Form::Address)
                .replaces(),
            Attribute::text(
                "role",
                Given::Required,
                "`owner`, `admin`, `developer`, `billing` or `viewer`.",
            )
            .form(Form::Words(ROLES)),
            Attribute::text("id", Given::Fixed, "The user's id."),
            Attribute::text(
                "state",
                Given::Server,
                "`invited` until a password is set, then `active`.",
            ),
            Attribute::number("version", Given::Server, "Counts changes, from 1."),
            Attribute::text("created_at", Given::Fixed, "When the user was invited."),
        ]
    }

    fn import_example(&self) -> &'static str {
        "tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071/ann@example.com"
    }

    fn identify(&self, id: &str) -> Result<Value, String> {
        Ok(match id.split_once('/') {
            Some((tenant, email)) => {
                Value::from([("tenant", tenant.into()), ("email", email.into())])
            }
            None => Value::from([("email", id.into())]),
        })
    }

    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json> {
        Box::pin(put(berth, planned, Some(0)))
    }

    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>> {
        Box::pin(async move {
            existing(match id_in(state, "tenant")? {
                Some(tenant) => berth.operator()?.tenant_user(tenant, email(state)).await,
                None => berth.tenant()?.user(email(state)).await,
            })
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
            let version = version(prior);
            match id_in(prior, "tenant")? {
                Some(tenant) => {
                    berth.operator()?.remove_tenant_user(tenant, email(prior), version).await?;
                }
                None => {
                    let id = prior.get("id").text().unwrap_or_default();
                    let id = id.parse().map_err(|error| {
                        Problem::at("id", "Not the id of a user", format!("{error}"))
                    })?;
                    berth.tenant()?.remove_user(id, version).await?;
                }
            }
            Ok(())
        })
    }
}
