//! Requests and answers about the provider, resources and data sources.

use super::{AttributePath, ClientCapabilities, Diagnostic, DynamicValue, RawState};
use prost::Message;

/// `ValidateProviderConfig`.
#[derive(Clone, PartialEq, Message)]
pub struct ValidateProvider {
    #[prost(message, optional, tag = "1")]
    pub config: Option<DynamicValue>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct ProviderValidated {
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `ConfigureProvider`.
#[derive(Clone, PartialEq, Message)]
pub struct Configure {
    #[prost(string, tag = "1")]
    pub terraform_version: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

/// `ValidateResourceConfig`, `ValidateDataResourceConfig` and `ValidateEphemeralResourceConfig`.
#[derive(Clone, PartialEq, Message)]
pub struct Validate {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub client_capabilities: Option<ClientCapabilities>,
}

/// An answer of diagnostics only.
#[derive(Clone, PartialEq, Message)]
pub struct Diagnosed {
    #[prost(message, repeated, tag = "1")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `UpgradeResourceState`.
#[derive(Clone, PartialEq, Message)]
pub struct Upgrade {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
    #[prost(message, optional, tag = "3")]
    pub raw_state: Option<RawState>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Upgraded {
    #[prost(message, optional, tag = "1")]
    pub upgraded_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `ReadResource`.
#[derive(Clone, PartialEq, Message)]
pub struct Read {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub current_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct ReadDone {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

/// `PlanResourceChange`.
#[derive(Clone, PartialEq, Message)]
pub struct Plan {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub prior_private: Vec<u8>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Planned {
    #[prost(message, optional, tag = "1")]
    pub planned_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub requires_replace: Vec<AttributePath>,
    #[prost(bytes = "vec", tag = "3")]
    pub planned_private: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `ApplyResourceChange`.
#[derive(Clone, PartialEq, Message)]
pub struct Apply {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub planned_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub planned_private: Vec<u8>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Applied {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "2")]
    pub private: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `ImportResourceState`.
#[derive(Clone, PartialEq, Message)]
pub struct Import {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(string, tag = "2")]
    pub id: String,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Imported {
    #[prost(message, repeated, tag = "1")]
    pub imported_resources: Vec<ImportedResource>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

/// One resource.
#[derive(Clone, PartialEq, Message)]
pub struct ImportedResource {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

/// `MoveResourceState`, of which only the wanted type is read.
#[derive(Clone, PartialEq, Message)]
pub struct Move {
    #[prost(string, tag = "5")]
    pub target_type_name: String,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct Moved {
    #[prost(message, optional, tag = "1")]
    pub target_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

/// `ReadDataSource`.
#[derive(Clone, PartialEq, Message)]
pub struct ReadData {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

/// Its answer.
#[derive(Clone, PartialEq, Message)]
pub struct DataRead {
    #[prost(message, optional, tag = "1")]
    pub state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer to `StopProvider`; empty: it stops.
#[derive(Clone, PartialEq, Message)]
pub struct Stopped {
    #[prost(string, tag = "1")]
    pub error: String,
}
