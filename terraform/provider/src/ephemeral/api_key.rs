//! `berth_api_key`, ephemeral: a key for the length of one command of Terraform.

use crate::provider::{Answer, Berth, Ephemeral, Opening, Problem};
use crate::resources::api_key::{keys, scopes};
use crate::resources::keys::Wanted;
use crate::resources::tenant::of_tenant;
use crate::schema::{Attribute, Given};
use crate::value::{Value, from_json, to_json};
use api_types::{ErrorCode, KeyId};
use secrecy::ExposeSecret;
use serde_json::json;
use std::time::Duration;

/// A key that is revoked when Terraform ends.
pub struct ApiKey;

/// Longer than most commands take, and short enough for a key that a killed Terraform leaves.
const LIFE: Duration = Duration::from_secs(3600);

impl Ephemeral for ApiKey {
    fn name(&self) -> &'static str {
        "berth_api_key"
    }

    fn text(&self) -> &'static str {
        "A key of a tenant that is made when Terraform needs it and revoked when Terraform ends: for `api_key` of a second provider, which \
         then keeps schedules and workflows of a tenant that the first one made. If Terraform is killed, the key expires. With `tenant` it \
         needs `operator_key`, else `api_key` with the scope `admin`."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            of_tenant(),
            Attribute::text("name", Given::Optional, "Its name. Default: `terraform`.").local(),
            scopes().local(),
            Attribute::duration(
                "expires_in",
                Given::Optional,
                "Lifetime, from `1s`. Default: `1h`.",
            )
            .local(),
            Attribute::text("id", Given::Fixed, "Its id."),
            Attribute::text("key", Given::Fixed, "The whole key.").sensitive(),
        ]
    }

    fn open<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Opening> {
        Box::pin(async move {
            let mut wanted = Wanted::read(config);
            wanted.life.get_or_insert(LIFE);
            if wanted.name.is_empty() {
                wanted.name = "terraform";
            }
            let (key, secret) = keys(berth, config)?.create(&wanted).await?;
            let id = key.json()["id"].clone();
            let private = json!({"tenant": to_json(config.get("tenant")), "id": id});
            let key = secret.as_ref().map(ExposeSecret::expose_secret);
            Ok(Opening {
                result: json!({"id": id, "key": key}),
                private: Some(private.to_string().into_bytes()),
            })
        })
    }

    fn close<'a>(&'a self, berth: &'a Berth, private: &'a [u8]) -> Answer<'a, ()> {
        Box::pin(async move {
            let private = serde_json::from_slice(private).unwrap_or_default();
            let private = from_json(&private);
            let id = KeyId::from(private.get("id").text().unwrap_or_default().to_owned());
            match keys(berth, &private)?.revoke(&id).await {
                // With its tenant, or by itself.
                Err(problem) if gone(&problem) => Ok(()),
                done => done,
            }
        })
    }
}

fn gone(problem: &Problem) -> bool {
    problem.is(ErrorCode::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::parse_duration;

    #[test]
    fn the_usual_lifetime_is_the_documented_one() {
        assert_eq!(parse_duration("1h"), Ok(LIFE));
    }
}
