//! What a type of the provider does.

use super::{Berth, Problem};
use crate::schema::{Attribute, Outcome};
use crate::value::Value;
use serde_json::Value as Json;
use std::pin::Pin;

/// An answer that comes later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Problem>> + Send + 'a>>;

/// A resource: an object that Terraform keeps. Answers are the JSON of the API, whose fields have the names of the attributes.
pub trait Resource: Send + Sync {
    /// Its name in configurations.
    fn name(&self) -> &'static str;
    /// What it is, for documentation.
    fn text(&self) -> &'static str;
    /// Its attributes.
    fn attributes(&self) -> Vec<Attribute>;
    /// What follows `terraform import berth_….example`.
    fn import_example(&self) -> &'static str;
    /// The attributes that an import names.
    ///
    /// # Errors
    /// What an import should name.
    fn identify(&self, id: &str) -> Result<Value, String>;
    /// The attribute that holds what the API's pointers lead into, if the attributes do not.
    fn body(&self) -> Option<&'static str> {
        None
    }
    /// Changes a plan by what the schema does not say.
    fn adjust(&self, _prior: &Value, _config: &Value, _outcome: &mut Outcome) {}
    /// Why it must not be deleted, or replaced.
    ///
    /// # Errors
    /// The reason.
    fn check_delete(&self, _prior: &Value) -> Result<(), Problem> {
        Ok(())
    }
    /// Asks the API what it would refuse. Everything in `planned` that the configuration gives is known.
    fn check<'a>(&'a self, _berth: &'a Berth, _planned: &'a Value) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }
    /// Creates it: a version conflict where it exists.
    fn create<'a>(&'a self, berth: &'a Berth, planned: &'a Value) -> Answer<'a, Json>;
    /// Reads it; `None` where it does not exist.
    fn read<'a>(&'a self, berth: &'a Berth, state: &'a Value) -> Answer<'a, Option<Json>>;
    /// Changes it.
    fn update<'a>(
        &'a self,
        berth: &'a Berth,
        prior: &'a Value,
        planned: &'a Value,
    ) -> Answer<'a, Json>;
    /// Deletes it.
    fn delete<'a>(&'a self, berth: &'a Berth, prior: &'a Value) -> Answer<'a, ()>;
}

/// A data source: what Terraform only reads.
pub trait DataSource: Send + Sync {
    /// Its name in configurations.
    fn name(&self) -> &'static str;
    /// What it is, for documentation.
    fn text(&self) -> &'static str;
    /// Its attributes. What the configuration gives is local.
    fn attributes(&self) -> Vec<Attribute>;
    /// Reads it.
    fn read<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Json>;
}

/// What an ephemeral resource is while it is open.
pub struct Opening {
    /// Its attributes. In no state, plan or log.
    pub result: Json,
    /// What is needed to close it. Terraform keeps it until then; no secret.
    pub private: Option<Vec<u8>>,
}

/// An ephemeral resource: what Terraform opens in each command, and never stores.
pub trait Ephemeral: Send + Sync {
    /// Its name in configurations.
    fn name(&self) -> &'static str;
    /// What it is, for documentation.
    fn text(&self) -> &'static str;
    /// Its attributes. What the configuration gives is local.
    fn attributes(&self) -> Vec<Attribute>;
    /// Opens it.
    fn open<'a>(&'a self, berth: &'a Berth, config: &'a Value) -> Answer<'a, Opening>;
    /// Closes it.
    fn close<'a>(&'a self, _berth: &'a Berth, _private: &'a [u8]) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }
}
