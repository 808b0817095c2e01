//! Answers the calls of Terraform.

use super::changes::{apply, explain, plan, plan_delete, unreadable};
use super::extra::within;
use super::problem::{error, warning};
use super::registry::Entry;
use super::{Berth, Problem, Registry, settings};
use crate::plugin::Provider;
use crate::plugin::messages::{
    Applied, Apply, AttributePath, Close, Configure, DataRead, Diagnosed, Diagnostic, DynamicValue,
    Import, Imported, ImportedResource, Metadata, Move, Moved, Open, Opened, Plan, Planned,
    ProviderSchema, ProviderValidated, Read, ReadData, ReadDone, ServerCapabilities, TypeName,
    Upgrade, Upgraded, Validate, ValidateProvider,
};
use crate::schema::{Attribute, check, fitted, state, wire};
use crate::value::{Value, from_json};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The provider.
pub struct Service {
    registry: Registry,
    berth: RwLock<Arc<Berth>>,
}

impl Service {
    /// Before Terraform configures it.
    #[must_use]
    pub fn new() -> Self {
        Self { registry: Registry::new(), berth: RwLock::new(Arc::new(Berth::unconfigured())) }
    }

    fn berth(&self) -> Arc<Berth> {
        Arc::clone(&self.berth.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A value of these attributes.
fn decoded(attributes: &[Attribute], value: Option<&DynamicValue>) -> Result<Value, Diagnostic> {
    let value = match value {
        None => Ok(Value::Null),
        Some(value) if !value.msgpack.is_empty() => {
            Value::read(&value.msgpack).map_err(|reason| unreadable(&reason))
        }
        Some(value) if value.json.is_empty() => Ok(Value::Null),
        Some(value) => stored(&value.json),
    };
    value.map(|value| fitted(attributes, value))
}

fn stored(json: &[u8]) -> Result<Value, Diagnostic> {
    serde_json::from_slice(json)
        .map(|json| from_json(&json))
        .map_err(|reason| unreadable(&reason.to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "a value of a message is optional")]
fn encoded(value: &Value) -> Option<DynamicValue> {
    Some(DynamicValue { msgpack: value.write(), json: Vec::new() })
}

fn found<'a, T: ?Sized>(
    types: &'a BTreeMap<&'static str, Entry<T>>,
    name: &str,
) -> Result<&'a Entry<T>, Diagnostic> {
    types.get(name).ok_or_else(|| unreadable(&format!("there is no type {name}")))
}

/// Mistakes that the schema shows.
fn mistakes(attributes: &[Attribute], config: Option<&DynamicValue>) -> Vec<Diagnostic> {
    match decoded(attributes, config) {
        Err(diagnostic) => vec![diagnostic],
        Ok(config) => check(attributes, &config)
            .into_iter()
            // Of what is in an object, Terraform shows only the line of the resource.
            .map(|(path, wanted)| {
                error("Invalid value".to_owned(), format!("{path}: {wanted}"), Some(&path))
            })
            .collect(),
    }
}

fn diagnosed(diagnostics: Vec<Diagnostic>) -> Diagnosed {
    Diagnosed { diagnostics }
}

const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: false,
};

impl Provider for Service {
    fn metadata(&self) -> Metadata {
        fn names<T: ?Sized>(types: &BTreeMap<&'static str, Entry<T>>) -> Vec<TypeName> {
            types.keys().map(|name| TypeName { type_name: (*name).to_owned() }).collect()
        }
        Metadata {
            server_capabilities: Some(CAPABILITIES),
            diagnostics: Vec::new(),
            data_sources: names(&self.registry.data),
            resources: names(&self.registry.resources),
            ephemeral_resources: names(&self.registry.ephemeral),
        }
    }

    fn schema(&self) -> ProviderSchema {
        let Registry { resources, data, ephemeral } = &self.registry;
        ProviderSchema {
            provider: Some(wire("Berth, a scheduling service.", &settings())),
            resource_schemas: resources
                .iter()
                .map(|(name, entry)| {
                    ((*name).to_owned(), wire(entry.does.text(), &entry.attributes))
                })
                .collect(),
            data_source_schemas: data
                .iter()
                .map(|(name, entry)| {
                    ((*name).to_owned(), wire(entry.does.text(), &entry.attributes))
                })
                .collect(),
            ephemeral_resource_schemas: ephemeral
                .iter()
                .map(|(name, entry)| {
                    ((*name).to_owned(), wire(entry.does.text(), &entry.attributes))
                })
                .collect(),
            diagnostics: Vec::new(),
            server_capabilities: Some(CAPABILITIES),
        }
    }

    async fn validate_provider(&self, sent: ValidateProvider) -> ProviderValidated {
        ProviderValidated { diagnostics: mistakes(&settings(), sent.config.as_ref()) }
    }

    async fn configure(&self, sent: Configure) -> Diagnosed {
        #[expect(clippy::disallowed_methods, reason = "the documented settings of the provider")]
        let environment = |name: &str| std::env::var(name).ok();
        let made = decoded(&settings(), sent.config.as_ref())
            .map_err(|diagnostic| vec![diagnostic])
            .and_then(|config| {
                Berth::configured(&config, environment).map_err(|problem| {
                    problem.diagnostics(("use", "the provider's settings"), &settings(), None)
                })
            });
        match made {
            Ok(berth) => {
                *self.berth.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(berth);
                diagnosed(Vec::new())
            }
            Err(diagnostics) => diagnosed(diagnostics),
        }
    }

    async fn validate_resource(&self, sent: Validate) -> Diagnosed {
        diagnosed(match found(&self.registry.resources, &sent.type_name) {
            Ok(entry) => mistakes(&entry.attributes, sent.config.as_ref()),
            Err(diagnostic) => vec![diagnostic],
        })
    }

    async fn validate_data(&self, sent: Validate) -> Diagnosed {
        diagnosed(match found(&self.registry.data, &sent.type_name) {
            Ok(entry) => mistakes(&entry.attributes, sent.config.as_ref()),
            Err(diagnostic) => vec![diagnostic],
        })
    }

    async fn validate_ephemeral(&self, sent: Validate) -> Diagnosed {
        diagnosed(match found(&self.registry.ephemeral, &sent.type_name) {
            Ok(entry) => mistakes(&entry.attributes, sent.config.as_ref()),
            Err(diagnostic) => vec![diagnostic],
        })
    }

    /// Called for every state. Attributes of another release are dropped, and those that it lacks are null.
    async fn upgrade(&self, sent: Upgrade) -> Upgraded {
        let upgraded = found(&self.registry.resources, &sent.type_name).and_then(|entry| {
            let json = sent.raw_state.map(|state| state.json).unwrap_or_default();
            Ok(fitted(&entry.attributes, stored(&json)?))
        });
        match upgraded {
            Ok(value) => Upgraded { upgraded_state: encoded(&value), diagnostics: Vec::new() },
            Err(diagnostic) => Upgraded { upgraded_state: None, diagnostics: vec![diagnostic] },
        }
    }

    /// Gone is only what the API says is not there. Everything else keeps the state.
    async fn read(&self, sent: Read) -> ReadDone {
        let kept = sent.current_state.clone();
        let keep = |diagnostics| ReadDone { new_state: kept, diagnostics, private: Vec::new() };
        let (entry, before) = match found(&self.registry.resources, &sent.type_name)
            .and_then(|entry| Ok((entry, decoded(&entry.attributes, sent.current_state.as_ref())?)))
        {
            Ok(read) => read,
            Err(diagnostic) => return keep(vec![diagnostic]),
        };
        let berth = self.berth();
        match within(&before, "read", entry.does.read(&berth, &before)).await {
            Ok(Some(answer)) => ReadDone {
                new_state: encoded(&state(&entry.attributes, &before, &answer)),
                ..ReadDone::default()
            },
            Ok(None) => ReadDone { new_state: encoded(&Value::Null), ..ReadDone::default() },
            Err(Problem::NotYet) => keep(vec![warning(
                format!("{} is not refreshed", entry.does.name()),
                "The provider's settings are known only after the apply.".to_owned(),
            )]),
            Err(problem) => keep(explain(entry, "read", &problem)),
        }
    }

    async fn plan(&self, sent: Plan) -> Planned {
        let read = || {
            let entry = found(&self.registry.resources, &sent.type_name)?;
            let proposed = decoded(&entry.attributes, sent.proposed_new_state.as_ref())?;
            let values = (
                decoded(&entry.attributes, sent.prior_state.as_ref())?,
                decoded(&entry.attributes, sent.config.as_ref())?,
                proposed,
            );
            Ok((entry, values))
        };
        let (entry, (prior, config, proposed)) = match read() {
            Ok(read) => read,
            Err(diagnostic) => {
                return Planned { diagnostics: vec![diagnostic], ..Planned::default() };
            }
        };
        if proposed.is_null() {
            return Planned {
                planned_state: encoded(&Value::Null),
                diagnostics: plan_delete(entry, &prior),
                ..Planned::default()
            };
        }
        let (outcome, diagnostics) = plan(entry, &self.berth(), &prior, &config).await;
        Planned {
            planned_state: encoded(&outcome.value),
            requires_replace: outcome.replaces.iter().map(AttributePath::from).collect(),
            planned_private: sent.prior_private,
            diagnostics,
        }
    }

    async fn apply(&self, sent: Apply) -> Applied {
        let read = || {
            let entry = found(&self.registry.resources, &sent.type_name)?;
            let wanted = decoded(&entry.attributes, sent.planned_state.as_ref())?;
            Ok((entry, decoded(&entry.attributes, sent.prior_state.as_ref())?, wanted))
        };
        match read() {
            Ok((entry, prior, wanted)) => {
                let (value, diagnostics) = apply(entry, &self.berth(), &prior, &wanted).await;
                Applied { new_state: encoded(&value), private: sent.planned_private, diagnostics }
            }
            Err(diagnostic) => Applied {
                new_state: sent.prior_state,
                private: Vec::new(),
                diagnostics: vec![diagnostic],
            },
        }
    }

    /// Only what identifies the object: Terraform reads the rest.
    async fn import(&self, sent: Import) -> Imported {
        let entry = match found(&self.registry.resources, &sent.type_name) {
            Ok(entry) => entry,
            Err(diagnostic) => {
                return Imported { diagnostics: vec![diagnostic], ..Imported::default() };
            }
        };
        match entry.does.identify(&sent.id) {
            Ok(named) => {
                let state = encoded(&fitted(&entry.attributes, named));
                let resource =
                    ImportedResource { type_name: sent.type_name, state, private: Vec::new() };
                Imported { imported_resources: vec![resource], diagnostics: Vec::new() }
            }
            Err(wanted) => {
                let summary = format!("`{}` cannot be imported", sent.id);
                Imported { diagnostics: vec![error(summary, wanted, None)], ..Imported::default() }
            }
        }
    }

    async fn moved(&self, sent: Move) -> Moved {
        let summary = format!("Nothing can be moved to {}", sent.target_type_name);
        let detail = "Import it instead.".to_owned();
        Moved { diagnostics: vec![error(summary, detail, None)], ..Moved::default() }
    }

    async fn read_data(&self, sent: ReadData) -> DataRead {
        let failed = |diagnostics| DataRead { state: None, diagnostics };
        let (entry, config) = match found(&self.registry.data, &sent.type_name)
            .and_then(|entry| Ok((entry, decoded(&entry.attributes, sent.config.as_ref())?)))
        {
            Ok(read) => read,
            Err(diagnostic) => return failed(vec![diagnostic]),
        };
        match entry.does.read(&self.berth(), &config).await {
            Ok(answer) => DataRead {
                state: encoded(&state(&entry.attributes, &config, &answer)),
                diagnostics: Vec::new(),
            },
            Err(problem) => {
                failed(problem.diagnostics(("read", entry.does.name()), &entry.attributes, None))
            }
        }
    }

    async fn open(&self, sent: Open) -> Opened {
        let failed = |diagnostics| Opened { diagnostics, ..Opened::default() };
        let (entry, config) = match found(&self.registry.ephemeral, &sent.type_name)
            .and_then(|entry| Ok((entry, decoded(&entry.attributes, sent.config.as_ref())?)))
        {
            Ok(read) => read,
            Err(diagnostic) => return failed(vec![diagnostic]),
        };
        match entry.does.open(&self.berth(), &config).await {
            Ok(opening) => Opened {
                diagnostics: Vec::new(),
                result: encoded(&state(&entry.attributes, &config, &opening.result)),
                private: opening.private,
            },
            Err(problem) => {
                failed(problem.diagnostics(("open", entry.does.name()), &entry.attributes, None))
            }
        }
    }

    /// None asks to be renewed.
    async fn renew(&self, _sent: Close) -> Diagnosed {
        diagnosed(Vec::new())
    }

    async fn close(&self, sent: Close) -> Diagnosed {
        let entry = match found(&self.registry.ephemeral, &sent.type_name) {
            Ok(entry) => entry,
            Err(diagnostic) => return diagnosed(vec![diagnostic]),
        };
        let private = sent.private.unwrap_or_default();
        diagnosed(match entry.does.close(&self.berth(), &private).await {
            Ok(()) => Vec::new(),
            Err(problem) => {
                problem.diagnostics(("close", entry.does.name()), &entry.attributes, None)
            }
        })
    }
}
