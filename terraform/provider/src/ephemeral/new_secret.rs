//! `berth_new_secret`: the text of a key, the token of an invitation, or the secret of a webhook, in the apply that made it.

use crate::provider::{Answer, Berth, Ephemeral, Opening};
use crate::schema::{Attribute, Given};
use crate::value::Value;
use secrecy::ExposeSecret;
use serde_json::json;

/// A secret that was just made.
pub struct NewSecret;

impl Ephemeral for NewSecret {
    fn name(&self) -> &'static str {
        "berth_new_secret"
    }

    fn text(&self) -> &'static str {
        "The text of a key, the token of an invitation or the secret of a webhook, in the apply that made it; null in every other. Give it to a write-only \
         attribute of a store of secrets, with the id of the key as version, so that the store takes it when the key is new or rotated. It is shown \
         once: if the store fails, rotate the key."
    }

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            Attribute::text(
                "of",
                Given::Required,
                "Id of a `berth_api_key`, a `berth_operator_key`, a `berth_user` or a `berth_webhook` of the same provider.",
            )
            .local(),
            Attribute::text("value", Given::Fixed, "The secret; null where this apply did not make it.").sensitive(),
        ]
    }

    fn open<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Opening> {
        Box::pin(async move {
            let secret = berth.kept(config.get("of").text().unwrap_or_default());
            let value = secret.as_ref().map(ExposeSecret::expose_secret);
            Ok(Opening { result: json!({"value": value}), private: None })
        })
    }
}
